package pushcrypt

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"slices"
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
	// reading is held while the file is read, and state guards what is below.
	reading, state sync.Mutex
	file           *KeysetFile
	keys           *Keyset
	refusal        error
	// stamp belongs to reading. It is nil if the next look reads the file in any case.
	stamp fs.FileInfo
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
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			w.look(ctx)
		}
	}
}

// look reads the file if it isn't the one that was read.
func (w *KeysetWatcher) look(ctx context.Context) {
	w.reading.Lock()
	stamp, err := os.Stat(w.path)
	isSame := err == nil && w.stamp != nil && os.SameFile(stamp, w.stamp) && stamp.ModTime().Equal(w.stamp.ModTime()) &&
		stamp.Size() == w.stamp.Size() && stamp.Mode() == w.stamp.Mode()
	w.reading.Unlock()
	if !isSame {
		w.Reload(ctx)
	}
}

// Reload reads the file now, for example after a signal, and returns why it isn't in use.
func (w *KeysetWatcher) Reload(ctx context.Context) error {
	before := w.Refusal()
	err := w.read(ctx)
	w.state.Lock()
	w.refusal = err
	w.state.Unlock()
	if err != nil && (before == nil || before.Error() != err.Error()) {
		w.options.OnRefusal(err)
	}
	return err
}

func (w *KeysetWatcher) read(ctx context.Context) (err error) {
	w.reading.Lock()
	defer w.reading.Unlock()
	defer catch(&err, "malformed", "the keyset")
	w.stamp, _ = os.Stat(w.path)
	options := w.options
	if w.file != nil {
		options.Seen = &w.file.log.head
	}
	file, err := ReadKeysetFile(ctx, w.path, options)
	if err != nil {
		var refused *Error
		// The same file may be read later, when a key server has recovered.
		if errors.As(err, &refused) && slices.Contains([]string{"wrapCommandFailed", "inputOutput"}, refused.Code) {
			w.stamp = nil
		}
		return err
	}
	keys := file.Keyset()
	if keys.primary(w.options.Now()) == nil && !w.revokes(file) {
		// The time of the file may come.
		w.stamp = nil
		keys.required(w.options.Now())
	}
	isChanged := w.file == nil || w.file.log.head != file.log.head
	w.state.Lock()
	w.file, w.keys = file, keys
	w.state.Unlock()
	if isChanged && w.options.OnChange != nil {
		w.options.OnChange(file.Head())
	}
	return nil
}

// revokes says whether the file revokes the key in use. Then nothing is sealed rather than with this key.
func (w *KeysetWatcher) revokes(file *KeysetFile) bool {
	if w.keys == nil {
		return false
	}
	used := w.keys.primary(w.options.Now())
	return used != nil && file.log.keys[used.key.kid] != nil && file.log.keys[used.key.kid].times.has("revokedAt")
}

// Refusal returns why the present file isn't in use, for a health check; nil if it is.
func (w *KeysetWatcher) Refusal() error {
	w.state.Lock()
	defer w.state.Unlock()
	return w.refusal
}

// Keyset returns the keys in use.
func (w *KeysetWatcher) Keyset() *Keyset {
	w.state.Lock()
	defer w.state.Unlock()
	return w.keys
}

// Head returns the point of the log in use.
func (w *KeysetWatcher) Head() Point {
	w.state.Lock()
	defer w.state.Unlock()
	return w.file.Head()
}

// SenderKeyAt returns the key that signs. Errors: noKeySeals, wrongKind.
func (w *KeysetWatcher) SenderKeyAt(now time.Time) (*SenderKey, error) {
	return w.Keyset().SenderKeyAt(now)
}
