package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Show the version", Args: none, Example: `  dragoman version`,
		RunE: func(*cobra.Command, []string) error {
			return a.print(fmt.Sprintf("dragoman %s (%s %s/%s)\n", a.version(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
		},
	}
}

// version is what the build says.
func (a *app) version() string {
	if a.Version != "" {
		return a.Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
