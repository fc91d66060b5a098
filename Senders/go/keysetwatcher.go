package pushcrypt

import (
	"context"
	"io/fs"
	"log/slog"
	"os"
	"sync"
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
	// using guards what follows.
	using   sync.Mutex
	file    *KeysetFile
	keys    *Keyset
	refusal error
}

// WatchKeyset reads a keyset's file, and looks for another one until the context is done. Replace the file with a rename, as
// pushcrypt rotate does. Errors: those of [ReadKeysetFile], and noKeySeals.
func WatchKeyset(ctx context.Context, path string, options KeysetOptions) (*KeysetWatcher, error) {
	if options.Interval == 0 {
		options.Interval = time.Second
	}
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
	before := w.Refusal()
	if isSame && !isForced {
		return before
	}
	head := w.Head()
	err = w.read(ctx)
	w.using.Lock()
	w.refusal = err
	w.using.Unlock()
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
	options := w.options
	if w.file != nil {
		options.Seen = &w.file.log.head
	}
	file, err := ReadKeysetFile(ctx, w.path, options)
	if err != nil {
		return err
	}
	keys, now := file.Keyset(), w.options.Now()
	if w.keys == nil || w.keys.primary(now) == nil || !file.isRevoked(w.keys.primary(now).key.kid) {
		// If the key in use is revoked, nothing is sealed rather than with this key.
		keys.required(now)
	}
	w.using.Lock()
	defer w.using.Unlock()
	w.stamp, w.file, w.keys = found, file, keys
	return nil
}

func (f *KeysetFile) isRevoked(kid string) bool {
	logged := f.log.keys[kid]
	return logged != nil && logged.times.has("revokedAt")
}

// Refusal returns why the present file isn't in use, for a health check; nil if it is.
func (w *KeysetWatcher) Refusal() error {
	w.using.Lock()
	defer w.using.Unlock()
	return w.refusal
}

// Head returns the point of the log in use.
func (w *KeysetWatcher) Head() Point {
	w.using.Lock()
	defer w.using.Unlock()
	return w.file.Head()
}

// Keyset returns the keys in use.
func (w *KeysetWatcher) Keyset() *Keyset {
	w.using.Lock()
	defer w.using.Unlock()
	return w.keys
}

// SenderKeyAt returns the key that signs. Errors: noKeySeals, wrongKind.
func (w *KeysetWatcher) SenderKeyAt(now time.Time) (*SenderKey, error) {
	return w.Keyset().SenderKeyAt(now)
}
