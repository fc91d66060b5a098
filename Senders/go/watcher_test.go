package pushcrypt

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// keysetWriter writes keysets of senders (docs/keyset-log.md).
type keysetWriter struct {
	rows [][]byte
	n    int
	prev string
	jwks []string
}

// senderJWKs returns two private keys.
func senderJWKs(testing.TB) (jwks []string) {
	for seed := range byte(2) {
		private := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed + 1}, 32))
		x := base64Of(private[32:])
		kid := base64Of(digest([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + x + `"}`))[:8])
		jwks = append(jwks, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":"%s","d":"%s","alg":"Ed25519","kid":"%s"}`, x, base64Of(private[:32]), kid))
	}
	return jwks
}

func kidOf(jwk string) string { return parse([]byte(jwk)).string("kid") }

func (w *keysetWriter) line(at, what, members string) *keysetWriter {
	if w.n == 0 {
		w.prev = base64Of(make([]byte, 32))
	}
	next := *w
	next.n++
	row := fmt.Sprintf(`{"n":%d,"at":"%s","who":"alice","what":"%s","prev":"%s"%s}`, next.n, at, what, w.prev, members)
	next.rows, next.prev = append(slices.Clone(w.rows), []byte(row)), base64Of(digest([]byte(row)))
	return &next
}

// adding returns the change that adds a key which activates at a time.
func (w *keysetWriter) adding(t testing.TB, jwk, activatesAt string) string {
	k := readKey(parse([]byte(jwk)), true)
	w.jwks = append(slices.Clone(w.jwks), jwk)
	public := fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":"%s","alg":"Ed25519","kid":"%s"}`, base64Of(k.public), k.kid)
	return fmt.Sprintf(`"%s":{"jwk":%s,"activatesAt":"%s"}`, k.kid, public, activatesAt)
}

func (w *keysetWriter) history() []byte { return append(bytes.Join(w.rows, []byte("\n")), '\n') }

func (w *keysetWriter) plain() []byte {
	keys := "[" + strings.Join(w.jwks, ",") + "]"
	return join(w.history(), fmt.Appendf(nil, `{"v":1,"keys":%s,"digest":"%s"}`+"\n", keys, base64Of(digest(w.history(), []byte(keys)))))
}

func enc(key, aad, text []byte) []byte {
	nonce := random(nonceSize)
	return gcm(key).Seal(nonce, nonce, text, aad)
}

// sealed encrypts the keys, with these locks.
func (w *keysetWriter) sealed(keysetKey []byte, locks string) []byte {
	dataKey, historyKey := random(32), random(32)
	text := fmt.Appendf(nil, `{"keys":[%s],"history":"%s"}`, strings.Join(w.jwks, ","), base64Of(historyKey))
	keys := enc(dataKey, join(label(" keyset"), []byte(locks), []byte{0}, w.history()), text)
	last := fmt.Appendf(nil, `{"v":1,"sealed":{"locks":%s,"dataKey":"%s","keys":"%s"},"mac":"%s"}`+"\n", locks,
		base64Of(enc(keysetKey, []byte("pushcrypt/1 data key"), dataKey)), base64Of(keys), base64Of(mac(historyKey, w.history())))
	return join(w.history(), last)
}

func created(t testing.TB, secrets string) *keysetWriter {
	w := &keysetWriter{}
	keys := w.adding(t, senderJWKs(t)[0], "2026-01-01T00:00:00Z")
	return w.line("2026-01-01T00:00:00Z", "created", `,"id":"AAAAAAAAAAAAAAAAAAAAAA","kind":"sender","secrets":[`+secrets+`],"keys":{`+keys+`}`)
}

// rotated is the next version, in which another key signs from the time on.
func rotated(t testing.TB, w *keysetWriter, at string) *keysetWriter {
	first, next := kidOf(senderJWKs(t)[0]), *w
	keys := next.adding(t, senderJWKs(t)[1], at)
	return next.line("2026-02-01T00:00:00Z", "rotated", `,"keys":{`+keys+`,"`+first+`":{"retiresAt":"`+at+`"}}`)
}

// watchedPlain is a watcher of a keyset with one key.
func watchedPlain(t testing.TB) *KeysetWatcher {
	path := filepath.Join(t.TempDir(), "sender.keyset")
	put(t, path, created(t, "").plain())
	return watched(t, path, KeysetOptions{})
}

// watchOnce starts a watcher that doesn't look again.
func watchOnce(t testing.TB, path string, options KeysetOptions) (*KeysetWatcher, error) {
	options.Interval, options.Now = time.Hour, func() time.Time { return testNow }
	return WatchKeyset(t.Context(), path, options)
}

// PutKeysets makes the folder Keys of README.md's test here, and kms-client, which unwraps the key of wrapped.keyset and rotated.keyset.
func PutKeysets(t *testing.T) {
	keysetKey, wrapped := random(32), created(t, `"kms"`)
	locks := `[{"name":"kms","command":true,"key":"` + base64Of([]byte("wrapped")) + `"}]`
	if err := os.Mkdir("Keys", 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, "Keys/backend.keyset", created(t, "").plain())
	put(t, "Keys/wrapped.keyset", wrapped.sealed(keysetKey, locks))
	put(t, "Keys/rotated.keyset", rotated(t, wrapped, "2026-03-01T00:00:00Z").sealed(keysetKey, locks))
	put(t, "key", keysetKey)
	put(t, "kms-client", []byte("#!/bin/sh\ntest \"$1 $2\" = \"push unwrap\" && cat > /dev/null && cat key\n"))
	if err := os.Chmod("kms-client", 0o700); err != nil {
		t.Fatal(err)
	}
}

// put replaces a file in one step.
func put(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

var testNow = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)

// watched is a watcher that only Reload makes read.
func watched(t testing.TB, path string, options KeysetOptions) *KeysetWatcher {
	t.Helper()
	options.Interval, options.Now = time.Hour, func() time.Time { return testNow }
	if options.OnRefusal == nil {
		options.OnRefusal = func(error) {}
	}
	return ok[*KeysetWatcher](t)(WatchKeyset(t.Context(), path, options))
}

func signs(t testing.TB, signer Signer, jwk string) {
	t.Helper()
	if got := ok[*SenderKey](t)(signer.SenderKeyAt(testNow)); got.KeyID() != kidOf(jwk) {
		t.Errorf("want the key %s, got %s", kidOf(jwk), got.KeyID())
	}
}

func TestARunningSenderSignsWithTheRotatedKey(t *testing.T) {
	path, keys := filepath.Join(t.TempDir(), "sender.keyset"), senderJWKs(t)
	first := created(t, "")
	put(t, path, first.plain())
	var heads []Point
	w := watched(t, path, KeysetOptions{OnChange: func(head Point) { heads = append(heads, head) }})
	signs(t, w, keys[0])
	second := rotated(t, first, "2026-03-01T00:00:00Z")
	put(t, path, second.plain())
	if err := w.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	signs(t, w, keys[1])
	if len(heads) != 1 || heads[0] != w.Head() || w.Head() != (Point{2, second.prev}) {
		t.Errorf("heads %v", heads)
	}
}

func TestTheWatchFindsAFileWithoutBeingAsked(t *testing.T) {
	path, changed := filepath.Join(t.TempDir(), "sender.keyset"), make(chan Point, 10)
	first := created(t, "")
	put(t, path, first.plain())
	options := KeysetOptions{Interval: time.Millisecond, Now: func() time.Time { return testNow }, OnChange: func(head Point) { changed <- head }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ok[*KeysetWatcher](t)(WatchKeyset(ctx, path, options))
	second := rotated(t, first, "2026-03-01T00:00:00Z")
	put(t, path, second.plain())
	select {
	case head := <-changed:
		if head != (Point{2, second.prev}) {
			t.Errorf("got %v", head)
		}
	case <-time.After(time.Minute):
		t.Fatal("the new file isn't found")
	}
}

func TestAFileThatIsRefusedLeavesTheKeysInUse(t *testing.T) {
	path, keys := filepath.Join(t.TempDir(), "sender.keyset"), senderJWKs(t)
	first := created(t, "")
	second := rotated(t, first, "2026-03-01T00:00:00Z")
	put(t, path, second.plain())
	var refusals atomic.Int32
	w := watched(t, path, KeysetOptions{OnRefusal: func(error) { refusals.Add(1) }})
	ended := second.line("2026-04-01T00:00:00Z", "rotated", `,"keys":{"`+kidOf(keys[1])+`":{"retiresAt":"2026-05-01T00:00:00Z"}}`)
	other := &keysetWriter{}
	otherKeys := other.adding(t, keys[0], "2026-01-01T00:00:00Z")
	other = other.line("2026-01-01T00:00:00Z", "created", `,"id":"AQAAAAAAAAAAAAAAAAAAAA","kind":"sender","keys":{`+otherKeys+`}`)
	for what, one := range map[string]struct {
		code string
		data []byte
	}{
		"an older log": {"olderThanHistory", first.plain()}, "another keyset": {"olderThanHistory", other.plain()},
		"half of a file": {"incomplete", second.plain()[:100]}, "a changed file": {"brokenChain", bytes.Replace(second.plain(), []byte("alice"), []byte("alicf"), 1)},
		"another version of the last line": {"olderThanHistory", rotated(t, first, "2026-03-02T00:00:00Z").plain()},
		"a file without a key that signs":  {"noKeySeals", ended.plain()},
	} {
		put(t, path, one.data)
		wantCode(t, what, one.code, w.Reload(t.Context()))
		wantCode(t, what, one.code, w.Refusal())
		wantCode(t, what, one.code, w.Reload(t.Context()))
		signs(t, w, keys[1])
	}
	if refusals.Load() != 6 {
		t.Errorf("%d calls of OnRefusal for 6 files", refusals.Load())
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "no file", "notFound", w.Reload(t.Context()))
	put(t, path, second.plain())
	wantCode(t, "the file in use", "", w.Reload(t.Context()))
	if w.Refusal() != nil {
		t.Error(w.Refusal())
	}
}

func TestTheWrapCommandRunsOnceForAFileThatStaysRefused(t *testing.T) {
	folder, keysetKey := t.TempDir(), random(32)
	path, runs, first := filepath.Join(folder, "sender.keyset"), filepath.Join(folder, "runs"), created(t, `"kms"`)
	put(t, filepath.Join(folder, "key"), keysetKey)
	locks := `[{"name":"kms","command":true,"key":"AAAA"}]`
	put(t, path, first.sealed(keysetKey, locks))
	w := watched(t, path, KeysetOptions{Command: []string{"/bin/sh", "-c", "cd '" + folder + "' && echo >> runs && cat key"}})
	ended := first.line("2026-02-01T00:00:00Z", "rotated", `,"keys":{"`+kidOf(senderJWKs(t)[0])+`":{"retiresAt":"2026-03-01T00:00:00Z"}}`)
	damaged := rotated(t, first, "2026-03-01T00:00:00Z").sealed(random(32), locks)
	for _, one := range []struct {
		code string
		data []byte
		runs int
	}{
		{"notAuthentic", damaged, 1}, {"notAuthentic", damaged, 0}, {"noKeySeals", ended.sealed(keysetKey, locks), 1}, {"notAuthentic", damaged, 0},
		{"", rotated(t, first, "2026-03-01T00:00:00Z").sealed(keysetKey, locks), 1}, {"notAuthentic", damaged, 1},
	} {
		put(t, runs, nil)
		put(t, path, one.data)
		wantCode(t, "the reload", one.code, w.Reload(t.Context()))
		wantCode(t, "the refusal", one.code, w.Refusal())
		if count := len(ok[[]byte](t)(os.ReadFile(runs))); count != one.runs {
			t.Errorf("%s: want %d runs, got %d", one.code, one.runs, count)
		}
	}
}

func TestTheRevocationOfTheLastKeyStopsSealingAtOnce(t *testing.T) {
	path, keys := filepath.Join(t.TempDir(), "sender.keyset"), senderJWKs(t)
	first := created(t, "")
	put(t, path, first.plain())
	w := watched(t, path, KeysetOptions{})
	sealer := ok[*Sealer](t)(NewSealer(testTopic, w))
	sealer.Now = func() time.Time { return testNow }
	to := ok[*Recipient](t)(ReadRecipient(RecordOf(t, "p256 psk")))
	ok[*SealedPush](t)(sealer.Seal(plainPayload, to, plainPlaceholder, Options{}))
	// The time of the revocation is to come.
	put(t, path, first.line("2026-04-01T00:00:00Z", "revoked", `,"keys":{"`+kidOf(keys[0])+`":{"revokedAt":"2027-01-01T00:00:00Z"}}`).plain())
	wantCode(t, "the reload", "", w.Reload(t.Context()))
	_, err := sealer.Seal(plainPayload, to, plainPlaceholder, Options{})
	wantCode(t, "a push after the revocation", "noKeySeals", err)
}

// abandoning is the version that a person has restored from the first one: other keys aren't in its log, and no key seals.
func abandoning(t testing.TB, first, other *keysetWriter, members string) *keysetWriter {
	over := fmt.Sprintf(`,"over":[{"n":%d,"hash":"%s"}]%s`, other.n, other.prev, members)
	restored := *first
	restored.n = other.n
	return restored.line("2026-04-01T00:00:00Z", "restored", over+`,"keys":{"`+kidOf(senderJWKs(t)[0])+`":{"retiresAt":"2026-03-01T00:00:00Z"}}`)
}

func TestARestorationThatRevokesTheKeyInUseStopsSealingAtOnce(t *testing.T) {
	first := created(t, "")
	second, kid := rotated(t, first, "2026-03-01T00:00:00Z"), kidOf(senderJWKs(t)[1])
	path := filepath.Join(t.TempDir(), "sender.keyset")
	put(t, path, second.plain())
	w := watched(t, path, KeysetOptions{})
	put(t, path, abandoning(t, first, second, "").plain())
	wantCode(t, "an abandoned key that isn't revoked", "noKeySeals", w.Reload(t.Context()))
	signs(t, w, senderJWKs(t)[1])
	put(t, path, abandoning(t, first, second, `,"revoked":{"`+kid+`":"2027-01-01T00:00:00Z"}`).plain())
	wantCode(t, "a revocation to come", "", w.Reload(t.Context()))
	_, err := w.SenderKeyAt(testNow)
	wantCode(t, "its key", "noKeySeals", err)
}

func TestAFileWithoutAKeyThatSignsReplacesOneWithoutOne(t *testing.T) {
	path, first := filepath.Join(t.TempDir(), "sender.keyset"), kidOf(senderJWKs(t)[0])
	ending := created(t, "").line("2026-02-01T00:00:00Z", "rotated", `,"keys":{"`+first+`":{"retiresAt":"2026-07-01T00:00:00Z"}}`)
	put(t, path, ending.plain())
	now := testNow
	w := ok[*KeysetWatcher](t)(WatchKeyset(t.Context(), path, KeysetOptions{Interval: time.Hour, Now: func() time.Time { return now }}))
	now = testNow.AddDate(0, 2, 0)
	next := ending.line("2026-07-02T00:00:00Z", "policy", "")
	put(t, path, next.plain())
	wantCode(t, "the reload", "", w.Reload(t.Context()))
	if w.Head() != (Point{3, next.prev}) {
		t.Errorf("got %v", w.Head())
	}
}

func TestASenderDoesNotStartWithoutAKeyOrWithAnOlderLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sender.keyset")
	first := created(t, "")
	put(t, path, first.plain())
	early := func() time.Time { return time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC) }
	_, err := WatchKeyset(t.Context(), path, KeysetOptions{Now: early})
	// The log was written later than this clock's time, so its key is active.
	wantCode(t, "a clock that is behind", "", err)
	second := rotated(t, first, "2026-03-01T00:00:00Z")
	_, err = WatchKeyset(t.Context(), path, KeysetOptions{Seen: &Point{2, second.prev}})
	wantCode(t, "an older log than was seen", "olderThanHistory", err)
	put(t, path, second.plain())
	_, err = WatchKeyset(t.Context(), path, KeysetOptions{Seen: &Point{1, first.prev}})
	wantCode(t, "a later log", "", err)
	put(t, path, second.line("2026-04-01T00:00:00Z", "rotated", `,"keys":{"`+kidOf(senderJWKs(t)[1])+`":{"retiresAt":"2026-05-01T00:00:00Z"}}`).plain())
	_, err = WatchKeyset(t.Context(), path, KeysetOptions{Now: func() time.Time { return testNow }})
	wantCode(t, "no key that signs", "noKeySeals", err)
}

const paperLock = `{"name":"paper","passphrase":{"n":2,"r":1,"p":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA","check":"AAAAAAAAAAAAAAAAAAAAAA"},"key":"PAPER"}`

func TestACommandUnwrapsTheKeysetKey(t *testing.T) {
	t.Setenv("PUSHCRYPT_PASSPHRASE", "secret")
	folder, keys := t.TempDir(), senderJWKs(t)
	path, keysetKey := filepath.Join(folder, "sender.keyset"), make([]byte, 32)
	if _, err := rand.Read(keysetKey); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"key": keysetKey, "wrapped": []byte("wrapped key"), "kms": []byte(`#!/bin/sh
cmp -s - "$1/wrapped" && test "$2" = unwrap && test -z "$PUSHCRYPT_PASSPHRASE" && cat "$1/key"
`)} {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command := []string{filepath.Join(folder, "kms"), folder}
	paper := strings.Replace(paperLock, "PAPER", base64Of(make([]byte, 60)), 1)
	kms := `{"name":"kms","command":true,"key":"` + base64Of([]byte("wrapped key")) + `"}`
	locks := "[" + paper + "," + kms + "]"
	w := created(t, `"kms","paper"`)
	read := func(data []byte, command []string) (*KeysetWatcher, error) {
		put(t, path, data)
		return watchOnce(t, path, KeysetOptions{Command: command})
	}
	shell := func(script string) []string { return []string{"/bin/sh", "-c", script} }
	sealed := w.sealed(keysetKey, locks)
	signs(t, ok[*KeysetWatcher](t)(read(sealed, command)), keys[0])
	signs(t, watched(t, path, KeysetOptions{Command: command}), keys[0])
	for what, one := range map[string]struct {
		code    string
		command []string
		data    []byte
	}{
		"no command":                         {"secretNeeded", nil, sealed},
		"keys in clear, and a command":       {"notEncrypted", command, w.plain()},
		"a secret that no line shows":        {"otherSecrets", command, created(t, `"kms"`).sealed(keysetKey, locks)},
		"a secret of the log that isn't one": {"otherSecrets", command, w.sealed(keysetKey, "["+kms+"]")},
		"another keyset key":                 {"notAuthentic", command, w.sealed(random(32), locks)},
		"a changed line":                     {"notAuthentic", command, bytes.Replace(sealed, []byte("alice"), []byte("alicf"), 1)},
		"changed locks":                      {"notAuthentic", command, bytes.Replace(sealed, []byte(`"p":1`), []byte(`"p":2`), 1)},
		"a command that fails":               {"wrapCommandFailed", shell("cat > /dev/null; exit 1"), sealed},
		"a command that writes too little":   {"wrapCommandFailed", []string{"echo"}, sealed},
		"a command that writes too much":     {"wrapCommandFailed", shell("head -c 33 /dev/zero"), sealed},
		"a command that writes and fails":    {"wrapCommandFailed", shell("head -c 32 /dev/zero; exit 3"), sealed},
		"a command that isn't there":         {"wrapCommandFailed", []string{"/bin/no-such-program"}, sealed},
	} {
		_, err := read(one.data, one.command)
		wantCode(t, what, one.code, err)
	}
	_, err := read(created(t, `"paper"`).sealed(keysetKey, "["+paper+"]"), command)
	wantCode(t, "a passphrase alone", "secretNeeded", err)
	if !strings.Contains(err.Error(), "pushcrypt seal --stream") {
		t.Errorf("the sidecar isn't named: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, path, sealed)
	_, err = WatchKeyset(ctx, path, KeysetOptions{Command: []string{"sleep", "100"}})
	wantCode(t, "a context that is done", "wrapCommandFailed", err)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the cause is lost: %v", err)
	}
}

func TestAKeysetFileThatOtherUsersCanOpenIsRefused(t *testing.T) {
	path, isRoot := filepath.Join(t.TempDir(), "sender.keyset"), os.Geteuid() == 0
	put(t, path, created(t, "").plain())
	group := map[bool]string{true: "", false: "looseMode"}[isRoot]
	for mode, code := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: group, 0o440: group, 0o660: "looseMode", 0o604: "looseMode", 0o601: "looseMode", 0o620: "looseMode"} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := watchOnce(t, path, KeysetOptions{})
		wantCode(t, mode.String(), code, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	_, err := watchOnce(t, link, KeysetOptions{})
	wantCode(t, "a link", "", err)
	_, err = watchOnce(t, path+".none", KeysetOptions{})
	wantCode(t, "no file", "notFound", err)
	if isRoot {
		if err := os.Chown(path, 12_345, -1); err != nil {
			t.Fatal(err)
		}
		_, err = watchOnce(t, path, KeysetOptions{})
		wantCode(t, "a file of another user", "foreignOwner", err)
	}
}

func TestTheRevocationOfAKeysetCountsAtOnce(t *testing.T) {
	kid := kidOf(senderJWKs(t)[0])
	w := created(t, "").line("2026-04-01T00:00:00Z", "revoked", `,"keys":{"`+kid+`":{"revokedAt":"2027-01-01T00:00:00Z"}}`)
	file := parseKeyset(w.plain(), nil, false)
	_, err := file.keys.SenderKeyAt(testNow)
	wantCode(t, "a revocation to come", "noKeySeals", err)
	if file.keys.States(testNow)[kid] != "revoked" {
		t.Error("the key isn't revoked")
	}
}

func TestAWrapCommandEndsWithItsChildProcesses(t *testing.T) {
	folder := t.TempDir()
	path, pipe := filepath.Join(folder, "sender.keyset"), filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	put(t, path, created(t, `"kms"`).sealed(random(32), `[{"name":"kms","command":true,"key":"AAAA"}]`))
	command := []string{"/bin/sh", "-c", "(sleep 30; echo late) > '" + pipe + "' & wait"}
	ctx, cancel := context.WithCancel(t.Context())
	refusal := make(chan error)
	go func() {
		_, err := WatchKeyset(ctx, path, KeysetOptions{Command: command})
		refusal <- err
	}()
	// The pipe opens when the child process has it, and ends with it.
	child := ok[*os.File](t)(os.Open(pipe))
	cancel()
	if text := ok[[]byte](t)(io.ReadAll(child)); len(text) > 0 {
		t.Errorf("the child process wrote %q", text)
	}
	wantCode(t, "a command that was ended", "wrapCommandFailed", <-refusal)
}

func TestAPipeIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Fatal(err)
	}
	go os.WriteFile(path, created(t, "").plain(), 0o600)
	w := watched(t, path, KeysetOptions{})
	wantCode(t, "a second look", "", w.Reload(t.Context()))
	signs(t, w, senderJWKs(t)[0])
}

func TestAWrapCommandThatLeavesAChildWithItsOutputFailsAndTheChildEnds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	failure := make(chan error)
	go func() {
		_, err := unwrap(t.Context(), []string{"/bin/sh", "-c", "(sleep 30; echo late) 3> '" + pipe + "' & exit 0"}, nil)
		failure <- err
	}()
	child := ok[*os.File](t)(os.Open(pipe))
	if err := <-failure; err == nil {
		t.Error("the command hasn't failed")
	}
	start := time.Now()
	ok[[]byte](t)(io.ReadAll(child))
	if time.Since(start) > 10*time.Second {
		t.Error("the child process isn't ended")
	}
}

func TestAWrapCommandThatWritesWithoutEndFails(t *testing.T) {
	start := time.Now()
	text, err := unwrap(t.Context(), []string{"/bin/sh", "-c", "exec head -c 100000000 /dev/zero"}, nil)
	if err == nil || len(text) > 32 || time.Since(start) > time.Minute {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}
