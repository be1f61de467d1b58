// Command dragoman puts language servers at the disposal of agents and people.
package main

func main() {}
