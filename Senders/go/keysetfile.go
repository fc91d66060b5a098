package pushcrypt

import (
	"bytes"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

const maxKeyset = 4 << 20 // bytes

// KeysetOptions say how a keyset's file is read. The last four are for [WatchKeyset].
type KeysetOptions struct {
	// Command unwraps the keyset key (docs/keyset-log.md, "The wrap command"). It is empty for keys in clear. /bin/sh runs it with
	// "unwrap" appended. The keys then authenticate the file.
	Command string
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

// KeysetFile is a keyset that was read: its log and its keys.
type KeysetFile struct {
	log  *keysetLog
	keys *Keyset
}

// ReadKeysetFile reads a keyset (docs/keyset-log.md). The context ends the wrap command.
//
// Errors: a code of that page with Row; secretNeeded also for keys that only a passphrase opens; olderThanHistory, notFound,
// inputOutput, looseMode, foreignOwner, wrapCommandFailed.
func ReadKeysetFile(ctx context.Context, path string, options KeysetOptions) (file *KeysetFile, err error) {
	defer catch(&err, "malformed", "the keyset")
	text, err := readPrivateFile(path)
	if err != nil {
		code := map[bool]string{true: "notFound", false: "inputOutput"}[errors.Is(err, fs.ErrNotExist)]
		return nil, &Error{Code: code, Reason: "the keyset can't be read: " + err.Error(), cause: err}
	}
	file = parseKeyset(text, func(locks []*object) []byte { return keysetKey(ctx, options.Command, locks) }, options.Command != "")
	isLater := options.Seen == nil || slices.Contains(file.log.points, *options.Seen)
	require(isLater, "olderThanHistory", "the keyset %s doesn't go on from a line that was seen before", file.log.id)
	return file, nil
}

// readPrivateFile checks the file that it has opened ("Files that are only read"). Links are followed.
func readPrivateFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	checkOwner(path, info)
	return io.ReadAll(io.LimitReader(file, maxKeyset+1))
}

// ID returns the keyset's id, which never changes.
func (f *KeysetFile) ID() string { return f.log.id }

// Head returns the point of the log's last line.
func (f *KeysetFile) Head() Point { return f.log.head }

// Keyset returns the keys with their times, without the private halves of recipients' keys.
func (f *KeysetFile) Keyset() *Keyset { return f.keys }

// parseKeyset reads the rows. The function gives the keyset key that the locks wrap.
func parseKeyset(data []byte, unlock func(locks []*object) []byte, hasSecret bool) *KeysetFile {
	require(len(data) <= maxKeyset, "tooLarge", "the file has more than 4 MiB")
	require(bytes.HasSuffix(data, []byte("\n")), "incomplete", "the file is empty, or its end is missing")
	rows := bytes.Split(data[:len(data)-1], []byte("\n"))
	number := len(rows)
	history := data[:len(data)-1-len(rows[number-1])]
	var last *object
	inRow(number, func() { last = parse(rows[number-1], true) })
	require(last.has("v") || !last.has("prev"), "incomplete", "the last row is missing")
	inRow(number, func() {
		require(last.integer("v", 0, maxInteger) == 1, "unsupportedVersion", "the file has another version")
	})
	file := &KeysetFile{log: parseLog(rows[:number-1])}
	inRow(number, func() {
		if last.has("sealed") {
			last = file.openSealed(last, history, unlock)
		} else {
			shape("v:any keys:list digest:hash")(last)
			isWhole := hmac.Equal(last.bytes("digest", hashSize), digest(history, last.raw("keys")))
			require(isWhole, "wrongDigest", "the digest isn't that of the rows and the keys")
			require(!hasSecret, "notEncrypted", "the keys are in clear, although a command was given")
		}
		file.takeKeys(last.list("keys", 0, maxKeyset))
	})
	return file
}

// inRow adds the row to a refusal.
func inRow(row int, read func()) {
	err := recoded(read)
	if refused, isRefused := err.(*Error); isRefused {
		refused.Row, refused.Reason = row, fmt.Sprintf("row %d: %s", row, refused.Reason)
		panic(refused)
	}
}

// recoded returns what is refused, with the code malformed if it has none.
func recoded(read func()) (err error) {
	defer catch(&err, "malformed", "it")
	read()
	return nil
}

// openSealed decrypts the keys, which authenticate the rows.
func (f *KeysetFile) openSealed(last *object, history []byte, unlock func([]*object) []byte) *object {
	shape("v:any mac:hash sealed:object")(last)
	sealed := last.object("sealed")
	shape("locks dataKey:wrapped keys:any")(sealed)
	names, locks := []any{}, []*object{}
	for _, one := range sealed.list("locks", 1, 8) {
		lock := one.(*object)
		require(!slices.Contains(names, lock.get("name")), "", "two secrets have one name")
		names, locks = append(names, lock.get("name")), append(locks, lock)
	}
	keys := sealed.bytes("keys", 0)
	require(len(keys) >= nonceSize+tagSize, "", "the sealed keys are too short")
	dataKey := openEnc(unlock(locks), sealed.bytes("dataKey", 60), []byte("pushcrypt/1 data key"))
	opened := parse(openEnc(dataKey, keys, join(label(" keyset"), sealed.raw("locks"), []byte{0}, history)), false)
	shape("keys:list history:hash")(opened)
	isRight := hmac.Equal(mac(opened.bytes("history", 32), history), last.bytes("mac", hashSize))
	require(isRight, "notAuthentic", "the mac isn't that of the rows")
	// Otherwise one who has a secret could add another one that no line shows.
	isHidden := func(name any) bool { return !slices.Contains(f.log.secrets, name) }
	isShown := len(names) == len(f.log.secrets) && !slices.ContainsFunc(names, isHidden)
	require(isShown, "otherSecrets", "the names of the secrets aren't those of the log")
	return opened
}

// openEnc reverses ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text).
func openEnc(key, sealed, aad []byte) []byte {
	text, err := gcm(key).Open(nil, sealed[:nonceSize], sealed[nonceSize:], aad)
	require(err == nil, "notAuthentic", "the keyset was changed after it was encrypted, or the command gave another key")
	return text
}

// takeKeys takes the private key of every key of the log that has material, and no other.
func (f *KeysetFile) takeKeys(jwks []any) {
	var entries []*entry
	missing := maps.Clone(f.log.keys)
	maps.DeleteFunc(missing, func(_ string, logged *entry) bool { return logged.isLost || logged.times.has("destroyedAt") })
	for _, jwk := range jwks {
		k := readRecord(jwk, true)
		logged := missing[k.kid]
		delete(missing, k.kid)
		isSame := logged != nil && k.secret != nil && (k.psk != nil) == logged.demandsPSK && (k.keyType == shared) == (logged.key == nil)
		isSame = isSame && (logged.key == nil || logged.key.equal(k.publicHalf(nil)))
		require(isSame, "otherKeys", "key %s isn't that of the log, lacks a secret, or is there twice", k.kid)
		if k.isPair() {
			k = k.publicHalf(k.psk)
		}
		times := maps.Clone(logged.times)
		if times.has("revokedAt") {
			times["revokedAt"] = min(times["revokedAt"], f.log.at) // A revocation counts at once, also if its time is to come.
		}
		entries = append(entries, &entry{k, times, logged.demandsPSK, false})
	}
	require(len(missing) == 0, "otherKeys", "a key is missing")
	f.keys = newKeyset(f.log.kind, f.log.head.N, f.log.at, entries)
}

// publicHalf leaves out the private key, and has the given psk.
func (k *key) publicHalf(psk []byte) *key {
	half := *k
	half.secret, half.psk = nil, psk
	return &half
}

// readRecord reads a key record without members that key records don't have. Of its codes, only kidMismatch is one of a log.
func readRecord(jwk any, isChecked bool) (k *key) {
	if refused, isRefused := recoded(func() { k = readKey(jwk, isChecked) }).(*Error); isRefused {
		require(refused.Code == "kidMismatch" && !isChecked, "", "%s", refused.Reason)
		panic(refused)
	}
	for name := range jwk.(*object).members {
		require(slices.Contains(strings.Fields(k.members), name), "", "the JWK of key %s has a member that key records don't have", k.kid)
	}
	return k
}

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
