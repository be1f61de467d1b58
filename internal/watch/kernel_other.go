//go:build !linux

package watch

import "os"

func newKernel(string) (kernel, error) { return newNotifier() }

// folderAt is the folder that path means, links followed; false when it is none.
func folderAt(path string) (key, bool) {
	fi, err := os.Stat(path)
	if err != nil || !fi.IsDir() {
		return key{}, false
	}
	return folderKey(fi), true
}
