// Package integration asks real language servers real questions through the
// dragoman binary, as a user's host would, and compares every answer with what the
// generator of the fixture knows to be true. Where a server lies while it loads, a
// client that does not wait is shown wrong on the same fixture in the same test.
//
// The tests need the build tag integration. A server that is not installed is
// skipped with its name, or, with DRAGOMAN_REQUIRE=all, is a failure.
package integration
