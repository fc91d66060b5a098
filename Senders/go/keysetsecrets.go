package pushcrypt

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const wrapTimeout = 2 * time.Minute

// checkOwner refuses a file that other users can open ("Files that are only read"). A pipe has no mode.
func checkOwner(path string, info fs.FileInfo) {
	stat := info.Sys().(*syscall.Stat_t)
	loose := fs.FileMode(0o077)
	if stat.Uid == 0 {
		loose = 0o037 // The group of a file of root may read it.
	}
	isPipe := info.Mode()&fs.ModeNamedPipe != 0
	require(isPipe || stat.Uid == 0 || int(stat.Uid) == os.Geteuid(), "foreignOwner", "%s belongs to another user", path)
	require(isPipe || info.Mode()&loose == 0, "looseMode", "other users can open %s", path)
}

// keysetKey returns the first key that the command unwraps.
func keysetKey(ctx context.Context, command string, locks []*object) []byte {
	locks = slices.DeleteFunc(locks, func(lock *object) bool { return !lock.has("command") })
	require(len(locks) > 0, "secretNeeded", "only a passphrase opens the keys, for which Go's standard library has no scrypt: add a "+
		"wrap command to the keyset, or seal with the sidecar, pushcrypt seal --stream (docs/sidecar.md)")
	require(command != "", "secretNeeded", "the keys are encrypted: give the command that unwraps their key")
	var failure error
	for _, lock := range locks {
		key, err := unwrap(ctx, command, lock.bytes("key", 0))
		if err == nil && len(key) == 32 {
			return key
		}
		failure = err
	}
	panic(&Error{Code: "wrapCommandFailed", Reason: "the command didn't write the 32 bytes of a key, or its exit status isn't 0", cause: failure})
}

// unwrap runs the command. It is killed after two minutes, with its child processes if there is no terminal.
func unwrap(ctx context.Context, command string, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wrapTimeout)
	defer cancel()
	process := exec.CommandContext(ctx, "/bin/sh", "-c", command+" unwrap")
	process.Env = slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, "PUSHCRYPT_PASSPHRASE=") })
	process.Stdin, process.Stderr, process.WaitDelay = bytes.NewReader(wrapped), os.Stderr, time.Second
	terminal, err := os.Open("/dev/tty")
	if err == nil {
		terminal.Close()
		return process.Output()
	}
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	return process.Output()
}
