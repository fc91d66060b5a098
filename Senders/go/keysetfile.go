package pushcrypt

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const maxKeyset = 4 << 20 // bytes

// keysetFile is a keyset that was read: its log and its keys (docs/keyset-log.md).
type keysetFile struct {
	text   []byte
	isPipe bool
	log    *keysetLog
	keys   *Keyset
}

// parseKeyset reads the rows. The function gives the keyset key that the locks wrap.
func parseKeyset(data []byte, unlock func(locks []*object) []byte, hasSecret bool) *keysetFile {
	require(len(data) <= maxKeyset, "tooLarge", "the file has more than 4 MiB")
	require(bytes.HasSuffix(data, []byte("\n")), "incomplete", "the file is empty, or its end is missing")
	rows := bytes.Split(data[:len(data)-1], []byte("\n"))
	number := len(rows)
	history := data[:len(data)-1-len(rows[number-1])]
	var last *object
	inRow(number, func() { last = parseCompact(rows[number-1]) })
	require(last.has("v") || !last.has("prev"), "incomplete", "the last row is missing")
	inRow(number, func() {
		require(last.integer("v", 0, maxInteger) == 1, "unsupportedVersion", "the file has another version")
	})
	file := &keysetFile{text: data, log: parseLog(rows[:number-1])}
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
	defer adjust(func(refused *Error) {
		refused.Code, refused.Row = cmp.Or(refused.Code, "malformed"), row
		refused.Reason = fmt.Sprintf("row %d: %s", row, refused.Reason)
	})
	read()
}

// adjust is deferred. It changes what was refused.
func adjust(change func(refused *Error)) {
	found := recover()
	if refused, isRefusal := found.(*Error); isRefusal {
		change(refused)
	}
	if found != nil {
		panic(found)
	}
}

// openSealed decrypts the keys, which authenticate the rows.
func (f *keysetFile) openSealed(last *object, history []byte, unlock func([]*object) []byte) *object {
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
	opened := parse(openEnc(dataKey, keys, join(label(" keyset"), sealed.raw("locks"), []byte{0}, history)))
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
func (f *keysetFile) takeKeys(jwks []any) {
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

// equal compares whole keys, in a time that doesn't depend on the secrets.
func (k *key) equal(other *key) bool {
	return k.keyType == other.keyType && k.device == other.device && hmac.Equal(join(k.public, k.secret, k.psk), join(other.public, other.secret, other.psk))
}

// readRecord reads a key record without members that key records don't have. Of its codes, only kidMismatch is one of a log.
func readRecord(jwk any, isChecked bool) *key {
	defer adjust(func(refused *Error) {
		if refused.Code != "kidMismatch" || isChecked {
			refused.Code = ""
		}
	})
	k := readKey(jwk, isChecked)
	for name := range jwk.(*object).members {
		require(slices.Contains(strings.Fields(k.members), name), "", "the JWK of key %s has a member that key records don't have", k.kid)
	}
	return k
}
