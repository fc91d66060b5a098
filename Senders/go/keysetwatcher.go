package pushcrypt

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// KeysetWatcher is the keyset of a running sender: it uses a rotated file without a restart. Give one with sender keys to
// [NewSealer]; of one with recipients' or shared keys request RecipientAt for each push.
//
// A file that is refused, or isn't a later version of the one in use, changes nothing. A revocation takes effect even if no other key
// seals: sealing then fails with noKeySeals.
type KeysetWatcher struct {
	path    string
	options KeysetOptions
	// reading is held while the file is read, and guards stamp: the file that was read, or nil to read it again.
	reading sync.Mutex
	stamp   fs.FileInfo
	file    atomic.Pointer[KeysetFile]
	refusal atomic.Pointer[error]
}

// WatchKeyset reads a keyset's file, and looks for another one until the context is done. Replace the file with a rename, as
// pushcrypt rotate does. Errors: those of [ReadKeysetFile], and noKeySeals.
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
	go w.watch(ctx)
	return w, nil
}

func (w *KeysetWatcher) watch(ctx context.Context) {
	ticker := time.NewTicker(w.options.Interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticker.C:
			w.reload(ctx, false)
		}
	}
}

// Reload reads the file now, for example after a signal, and returns why it isn't in use.
func (w *KeysetWatcher) Reload(ctx context.Context) error { return w.reload(ctx, true) }

func (w *KeysetWatcher) reload(ctx context.Context, isForced bool) error {
	w.reading.Lock()
	defer w.reading.Unlock()
	found, err := os.Stat(w.path)
	isSame := err == nil && w.stamp != nil && os.SameFile(found, w.stamp) && found.ModTime().Equal(w.stamp.ModTime()) &&
		found.Size() == w.stamp.Size() && found.Mode() == w.stamp.Mode()
	before, head := w.Refusal(), w.Head()
	if isSame && !isForced {
		return before
	}
	err = w.read(ctx)
	w.refusal.Store(&err)
	if err != nil && (before == nil || before.Error() != err.Error()) {
		w.options.OnRefusal(err)
	}
	if w.options.OnChange != nil && w.Head() != head {
		w.options.OnChange(w.Head())
	}
	return err
}

func (w *KeysetWatcher) read(ctx context.Context) (err error) {
	defer catch(&err, "malformed", "the keyset")
	// Until the file is in use, the next look reads it again: its time may come, or a key server recover.
	w.stamp = nil
	found, _ := os.Stat(w.path)
	used, options, now := w.file.Load(), w.options, w.options.Now()
	if used != nil {
		options.Seen = &used.log.head
	}
	file := must(ReadKeysetFile(ctx, w.path, options))
	if used == nil || !file.revokes(used.keys.primary(now)) {
		// If the key in use is revoked, nothing is sealed rather than with this key.
		file.keys.required(now)
	}
	w.stamp = found
	w.file.Store(file)
	return nil
}

func (f *KeysetFile) revokes(used *entry) bool {
	return used != nil && f.log.keys[used.key.kid] != nil && f.log.keys[used.key.kid].times.has("revokedAt")
}

// Refusal returns why the present file isn't in use, for a health check; nil if it is.
func (w *KeysetWatcher) Refusal() error {
	if refusal := w.refusal.Load(); refusal != nil {
		return *refusal
	}
	return nil
}

// Head returns the point of the log in use.
func (w *KeysetWatcher) Head() Point { return w.file.Load().Head() }

// Keyset returns the keys in use.
func (w *KeysetWatcher) Keyset() *Keyset { return w.file.Load().Keyset() }

// SenderKeyAt returns the key that signs. Errors: noKeySeals, wrongKind.
func (w *KeysetWatcher) SenderKeyAt(now time.Time) (*SenderKey, error) {
	return w.Keyset().SenderKeyAt(now)
}
