package pushcrypt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const wrapTimeout = 2 * time.Minute

// KeysetOptions say how [WatchKeyset] reads a keyset's file.
type KeysetOptions struct {
	// Command is a program with its arguments, which unwraps the keyset key (docs/keyset-log.md, "The wrap command"). It gets one more
	// argument, unwrap, and runs without a shell and without a terminal, at most two minutes. The keys then authenticate the file. It is
	// empty for keys in clear.
	Command []string
	// Seen is a point of the log that was seen before: another keyset and an older log are refused.
	Seen *Point
	// Interval is the time between two looks at the file, 1 second by default.
	Interval time.Duration
	// Now is the clock, [time.Now] by default.
	Now func() time.Time
	// OnChange is called when a new file is in use. Store the point for Seen of the next run.
	OnChange func(head Point)
	// OnRefusal is called when a new file is refused and the keys before stay in use. By default [log/slog] writes it. Neither
	// function may call Reload.
	OnRefusal func(err error)
}

// KeysetWatcher is the keyset of a running sender: it uses a rotated file without a restart. Give one with sender keys to
// [NewSealer]; of one with recipients' or shared keys request RecipientAt for each push.
//
// A file that is refused, or isn't a later version of the one in use, changes nothing. A revocation takes effect even if no other key
// seals: sealing then fails with noKeySeals.
type KeysetWatcher struct {
	path        string
	options     KeysetOptions
	reading     sync.Mutex
	file        atomic.Pointer[keysetFile]
	refusal     atomic.Pointer[error]
	refusedText []byte // stays refused, with refusedWith, until another file is in use
	refusedWith error
}

// WatchKeyset reads a keyset's file (docs/keyset-log.md), and looks for another one until the context is done, which also ends the wrap
// command. Replace the file with a rename, as pushcrypt rotate does.
//
// Errors: a code of that page with Row; secretNeeded also for keys that only a passphrase opens; olderThanHistory, notFound,
// inputOutput, looseMode, foreignOwner, wrapCommandFailed, noKeySeals.
func WatchKeyset(ctx context.Context, path string, options KeysetOptions) (*KeysetWatcher, error) {
	options.Interval = cmp.Or(options.Interval, time.Second)
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.OnRefusal == nil {
		options.OnRefusal = func(err error) { slog.Error("keyset rejected; keeping the previous one", "path", path, "error", err) }
	}
	w := &KeysetWatcher{path: path, options: options}
	if err := w.read(ctx); err != nil {
		return nil, err
	}
	go func() {
		for looks := time.Tick(options.Interval); ctx.Err() == nil; {
			select {
			case <-ctx.Done():
			case <-looks:
				w.Reload(ctx)
			}
		}
	}()
	return w, nil
}

// Reload reads the file now, for example after a signal, and returns why it isn't in use.
func (w *KeysetWatcher) Reload(ctx context.Context) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	before, head := w.Refusal(), w.Head()
	err := w.read(ctx)
	w.refusal.Store(&err)
	if err != nil && (before == nil || before.Error() != err.Error()) {
		w.options.OnRefusal(err)
	}
	if w.options.OnChange != nil && w.Head() != head {
		w.options.OnChange(w.Head())
	}
	return err
}

// read changes nothing if the file has the bytes of the one in use. Another file is read each time if the time of its key may come, or a
// key server recover; otherwise the wrap command doesn't run again. A pipe is read once.
func (w *KeysetWatcher) read(ctx context.Context) (err error) {
	var text []byte
	defer func() {
		if refused, isRefusal := err.(*Error); isRefusal && text != nil && !isOneOf(refused.Code, "noKeySeals", "wrapCommandFailed", "inputOutput") {
			w.refusedText, w.refusedWith = text, err
		}
	}()
	defer catch(&err, "malformed", "the keyset")
	used, now := w.file.Load(), w.options.Now()
	if used != nil && used.isPipe {
		return nil
	}
	text, isPipe := readPrivateFile(w.path)
	if used != nil && bytes.Equal(text, used.text) {
		return nil
	}
	if w.refusedText != nil && bytes.Equal(text, w.refusedText) {
		return w.refusedWith
	}
	seen := w.options.Seen
	if used != nil {
		seen = &used.log.head
	}
	unlock := func(locks []*object) []byte { return keysetKey(ctx, w.options.Command, locks) }
	file := parseKeyset(text, unlock, len(w.options.Command) > 0)
	isLater := seen == nil || slices.Contains(file.log.points, *seen)
	require(isLater, "olderThanHistory", "the keyset %s doesn't go on from a line that was seen before", file.log.id)
	// If the key in use is revoked, nothing is sealed rather than with this key.
	if used == nil {
		file.keys.required(now)
	} else if primary := used.keys.primary(now); primary != nil && !file.log.isRevoked(primary.key.kid) {
		file.keys.required(now)
	}
	file.isPipe = isPipe
	w.file.Store(file)
	w.refusedText = nil
	return nil
}

// Refusal returns why the present file isn't in use, for a health check; nil if it is.
func (w *KeysetWatcher) Refusal() error {
	if refusal := w.refusal.Load(); refusal != nil {
		return *refusal
	}
	return nil
}

// Head returns the point of the log in use: its last line.
func (w *KeysetWatcher) Head() Point { return w.file.Load().log.head }

// Keyset returns the keys in use with their times, without the private halves of recipients' keys.
func (w *KeysetWatcher) Keyset() *Keyset { return w.file.Load().keys }

// SenderKeyAt returns the key that signs. Errors: noKeySeals, wrongKind.
func (w *KeysetWatcher) SenderKeyAt(now time.Time) (*SenderKey, error) {
	return w.Keyset().SenderKeyAt(now)
}

// readPrivateFile refuses a file that other users can open ("Files that are only read"). Links are followed. A pipe has no mode.
func readPrivateFile(path string) (text []byte, isPipe bool) {
	var info fs.FileInfo
	file, err := os.Open(path)
	require(!errors.Is(err, fs.ErrNotExist), "notFound", "there is no file %s", path)
	if err == nil {
		defer file.Close()
		info, err = file.Stat()
	}
	if err == nil {
		stat, loose := info.Sys().(*syscall.Stat_t), fs.FileMode(0o077)
		if stat.Uid == 0 {
			loose = 0o037 // The group of a file of root may read it.
		}
		isPipe = info.Mode()&fs.ModeNamedPipe != 0
		require(isPipe || stat.Uid == 0 || int(stat.Uid) == os.Geteuid(), "foreignOwner", "%s belongs to another user", path)
		require(isPipe || info.Mode()&loose == 0, "looseMode", "other users can open %s", path)
		text, err = io.ReadAll(io.LimitReader(file, maxKeyset+1))
	}
	if err != nil {
		panic(&Error{Code: "inputOutput", Reason: "the keyset can't be read: " + err.Error(), cause: err})
	}
	return text, isPipe
}

// keysetKey returns the first key that the command unwraps.
func keysetKey(ctx context.Context, command []string, locks []*object) []byte {
	locks = slices.DeleteFunc(locks, func(lock *object) bool { return !lock.has("command") })
	require(len(locks) > 0, "secretNeeded", "only a passphrase opens the keys, for which Go's standard library has no scrypt: add a "+
		"wrap command to the keyset, or seal with the sidecar, pushcrypt seal --stream (docs/sidecar.md)")
	require(len(command) > 0, "secretNeeded", "the keys are encrypted: give the command that unwraps their key")
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

// keyOutput takes 32 bytes at most.
type keyOutput struct{ key []byte }

func (o *keyOutput) Write(text []byte) (int, error) {
	if len(o.key)+len(text) > 32 {
		return 0, errors.New("the command writes more than 32 bytes")
	}
	o.key = append(o.key, text...)
	return len(text), nil
}

// unwrap runs the command in a session of its own, so that it is killed with its child processes, also if it has ended before them.
func unwrap(ctx context.Context, command []string, wrapped []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, wrapTimeout)
	defer cancel()
	process := exec.CommandContext(ctx, command[0], append(slices.Clone(command[1:]), "unwrap")...)
	process.Env = slices.DeleteFunc(os.Environ(), func(one string) bool { return strings.HasPrefix(one, "PUSHCRYPT_PASSPHRASE=") })
	output := &keyOutput{}
	process.Stdin, process.Stdout, process.Stderr, process.WaitDelay = bytes.NewReader(wrapped), output, os.Stderr, time.Second
	process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	process.Cancel = func() error { return syscall.Kill(-process.Process.Pid, syscall.SIGKILL) }
	err := process.Run()
	if err != nil && process.Process != nil {
		process.Cancel()
	}
	return output.key, err
}
