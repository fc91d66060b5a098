//go:build unix

package pushcrypt

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const wrapTimeout = 2 * time.Minute

// checkOwner refuses a file that other users can open. A pipe has no mode.
func checkOwner(path string, info fs.FileInfo) {
	stat, isKnown := info.Sys().(*syscall.Stat_t)
	if !isKnown || info.Mode()&fs.ModeNamedPipe != 0 {
		return
	}
	loose := fs.FileMode(0o077)
	if stat.Uid == 0 {
		// The group of a file of root may read it.
		loose = 0o037
	}
	require(stat.Uid == 0 || int(stat.Uid) == os.Geteuid(), "foreignOwner", "%s belongs to another user", path)
	require(info.Mode()&loose == 0, "looseMode", "other users can open %s", path)
}

// keysetKey returns the first key that the command unwraps.
func keysetKey(ctx context.Context, command string, wrapped [][]byte) (key []byte) {
	require(len(wrapped) > 0, "secretNeeded", "only a passphrase opens the keys, for which Go's standard library has no scrypt: add a "+
		"wrap command to the keyset, or seal with the sidecar, pushcrypt seal --stream (docs/sidecar.md)")
	require(command != "", "secretNeeded", "the keys are encrypted: give the command that unwraps their key")
	var err error
	for _, one := range wrapped {
		if key, err = unwrap(ctx, command, one); err == nil && len(key) == 32 {
			return key
		}
	}
	panic(&Error{Code: "wrapCommandFailed", Reason: "the command didn't write the 32 bytes of a key, or its exit status isn't 0", cause: err})
}

// unwrap runs the command. It is killed after two minutes, with its child processes if there is no terminal.
func unwrap(ctx context.Context, command string, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wrapTimeout)
	defer cancel()
	process := exec.CommandContext(ctx, "/bin/sh", "-c", command+" unwrap")
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PUSHCRYPT_PASSPHRASE=") {
			process.Env = append(process.Env, variable)
		}
	}
	process.Stdin, process.Stderr, process.WaitDelay = bytes.NewReader(wrapped), os.Stderr, time.Second
	if terminal, err := os.Open("/dev/tty"); err == nil {
		terminal.Close()
	} else {
		process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	}
	return process.Output()
}
