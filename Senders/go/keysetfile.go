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
	"slices"
	"strings"
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
	// OnRefusal is called when a new file is refused and the keys before stay in use. By default [log/slog] writes it.
	OnRefusal func(err error)
}

// KeysetFile is a keyset that was read: its log and its keys.
type KeysetFile struct {
	log      *keysetLog
	material []*key
}

// ReadKeysetFile reads a keyset (docs/keyset-log.md). The context ends the wrap command.
//
// Errors: a code of that page with Row; secretNeeded also for keys that only a passphrase opens; olderThanHistory, notFound,
// inputOutput, looseMode, foreignOwner, wrapCommandFailed.
func ReadKeysetFile(ctx context.Context, path string, options KeysetOptions) (file *KeysetFile, err error) {
	defer catch(&err, "malformed", "the keyset")
	text := readPrivateFile(path)
	file = parseKeyset(text, func(wrapped [][]byte) []byte { return keysetKey(ctx, options.Command, wrapped) }, options.Command != "")
	if seen := options.Seen; seen != nil {
		isLater := slices.Contains(file.log.points, *seen)
		require(isLater, "olderThanHistory", "the keyset %s doesn't go on from its line %d, which was seen before", file.log.id, seen.N)
	}
	return file, nil
}

// readPrivateFile checks the file that it has opened ("Files that are only read"). Links are followed.
func readPrivateFile(path string) []byte {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		refuse("notFound", "there is no file %s", path)
	}
	fail := func(err error) {
		if err != nil {
			panic(&Error{Code: "inputOutput", Reason: "the keyset can't be read", cause: err})
		}
	}
	fail(err)
	defer file.Close()
	info, err := file.Stat()
	fail(err)
	checkOwner(path, info)
	text, err := io.ReadAll(io.LimitReader(file, maxKeyset+1))
	fail(err)
	return text
}

// ID returns the keyset's id, which never changes.
func (f *KeysetFile) ID() string { return f.log.id }

// Head returns the point of the log's last line.
func (f *KeysetFile) Head() Point { return f.log.head }

// Keyset returns the keys with their times, without the private halves of recipients' keys.
func (f *KeysetFile) Keyset() *Keyset {
	var entries []*entry
	for _, one := range f.material {
		times := maps.Clone(f.log.keys[one.kid].times)
		if times.has("revokedAt") {
			// A revocation counts at once, also if its time is to come.
			times["revokedAt"] = min(times["revokedAt"], f.log.at)
		}
		if one.isPair() {
			one = one.publicHalf(true)
		}
		entries = append(entries, &entry{one, times, one.psk != nil})
	}
	return newKeyset(f.log.kind, entries, f.log.head.N, f.log.at)
}

// parseKeyset reads the rows. The function gives the keyset key for what commands have wrapped.
func parseKeyset(data []byte, unlock func(wrapped [][]byte) []byte, hasSecret bool) *KeysetFile {
	require(len(data) <= maxKeyset, "tooLarge", "the file has more than 4 MiB")
	require(bytes.HasSuffix(data, []byte("\n")), "incomplete", "the file is empty, or its end is missing")
	rows := bytes.Split(data[:len(data)-1], []byte("\n"))
	number := len(rows)
	history := data[:len(data)-1-len(rows[number-1])]
	file := &KeysetFile{}
	var last *object
	inRow(number, func() {
		last = parse(rows[number-1], true)
		require(last.has("v") || !last.has("prev"), "incomplete", "the last row is missing")
		require(last.integer("v", 0, maxInteger) == 1, "unsupportedVersion", "the file has another version")
	})
	file.log = parseLog(rows[:number-1])
	inRow(number, func() {
		if last.has("sealed") {
			file.readSealed(last, history, unlock)
			return
		}
		shape("v:any keys:list digest:hash")(last)
		isWhole := hmac.Equal(last.bytes("digest", hashSize), digest(history, last.raw("keys")))
		require(isWhole, "wrongDigest", "the digest isn't that of the rows and the keys")
		require(!hasSecret, "notEncrypted", "the keys are in clear, although a command was given")
		file.readMaterial(last)
	})
	return file
}

func parseLog(rows [][]byte) *keysetLog {
	require(len(rows) > 0, "incomplete", "there is no line")
	log := &keysetLog{keys: map[string]*loggedKey{}, revoked: times{}, epochs: map[string]bool{}, issuedAt: firstSecond}
	for place, row := range rows {
		inRow(place+1, func() { log.add(row) })
	}
	return log
}

// inRow adds the row to a refusal.
func inRow(row int, read func()) {
	var err error
	func() {
		defer catch(&err, "malformed", "it")
		read()
	}()
	if refused, isRefused := err.(*Error); isRefused {
		refused.Row, refused.Reason = row, fmt.Sprintf("row %d: %s", row, refused.Reason)
		panic(refused)
	}
}

// readSealed decrypts the keys, which authenticate the rows.
func (f *KeysetFile) readSealed(last *object, history []byte, unlock func([][]byte) []byte) {
	shape("v:any mac:hash sealed:jwk")(last)
	sealed := last.object("sealed")
	shape("locks dataKey:wrapped keys:any")(sealed)
	names, wrapped := []string{}, [][]byte{}
	for _, one := range sealed.list("locks", 1, 8) {
		lock := one.(*object)
		require(!slices.Contains(names, lock.string("name")), "", "two secrets have one name")
		names = append(names, lock.string("name"))
		if lock.has("command") {
			wrapped = append(wrapped, lock.bytes("key", 0))
		}
	}
	keys := sealed.bytes("keys", 0)
	require(len(keys) >= nonceSize+tagSize, "", "the sealed keys are too short")
	dataKey := openEnc(unlock(wrapped), sealed.bytes("dataKey", 60), []byte("pushcrypt/1 data key"))
	text := openEnc(dataKey, keys, join(label(" keyset"), sealed.raw("locks"), []byte{0}, history))
	opened := parse(text, false)
	shape("keys:list history:hash")(opened)
	isRight := hmac.Equal(mac(opened.bytes("history", 32), history), last.bytes("mac", hashSize))
	require(isRight, "notAuthentic", "the mac isn't that of the rows")
	// Otherwise one who has a secret could add another one that no line shows.
	isShown := len(names) == len(f.log.secrets)
	for _, name := range names {
		isShown = isShown && slices.Contains(f.log.secrets, any(name))
	}
	require(isShown, "otherSecrets", "the names of the secrets aren't those of the log")
	f.readMaterial(opened)
}

// openEnc reverses ENC(key, aad, text) = nonce(12) ‖ AES-256-GCM(key, nonce, aad, text).
func openEnc(key, sealed, aad []byte) []byte {
	text, err := gcm(key).Open(nil, sealed[:nonceSize], sealed[nonceSize:], aad)
	require(err == nil, "notAuthentic", "the keyset was changed after it was encrypted, or the command gave another key")
	return text
}

// readMaterial takes the private key of every key of the log that has material, and no other.
func (f *KeysetFile) readMaterial(root *object) {
	missing := map[string]*loggedKey{}
	for kid, one := range f.log.keys {
		if one.hasMaterial() {
			missing[kid] = one
		}
	}
	for _, jwk := range root.list("keys", 0, maxKeyset) {
		k := readRecord(jwk, true)
		logged := missing[k.kid]
		delete(missing, k.kid)
		isSame := logged != nil && k.secret != nil && (k.psk != nil) == logged.hasPSK
		isSame = isSame && (k.keyType == shared) == (logged.key == nil) && (logged.key == nil || logged.key.equal(k.publicHalf(false)))
		require(isSame, "otherKeys", "key %s isn't that of the log, lacks a secret, or is there twice", k.kid)
		f.material = append(f.material, k)
	}
	require(len(missing) == 0, "otherKeys", "a key is missing")
}

// readRecord reads a key record without members that key records don't have. Only two codes of a record are codes of the file.
func readRecord(jwk any, isChecked bool) *key {
	var err error
	k := func() *key {
		defer catch(&err, "malformed", "a key record")
		return readKey(jwk, isChecked)
	}()
	if refused, isRefused := err.(*Error); isRefused {
		require(refused.Code == "kidMismatch" && !isChecked, "", "%s", refused.Reason)
		panic(refused)
	}
	for name := range jwk.(*object).members {
		require(slices.Contains(strings.Fields(k.members), name), "", "the JWK of key %s has a member that key records don't have", k.kid)
	}
	return k
}
