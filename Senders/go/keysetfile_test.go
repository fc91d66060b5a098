package pushcrypt

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"
	"testing"
)

// scrypt is RFC 7914. The standard library has none, so the package can't open these files; tests can.
func scrypt(t *testing.T, passphrase string, salt []byte, n, r, p, size int) []byte {
	derive := func(salt []byte, size int) []byte {
		return ok[[]byte](t)(pbkdf2.Key(sha256.New, passphrase, salt, 1, size))
	}
	data := derive(salt, p*128*r)
	for block := range slices.Chunk(data, 128*r) {
		x := make([]uint32, 32*r)
		for place := range x {
			x[place] = binary.LittleEndian.Uint32(block[4*place:])
		}
		seen := make([][]uint32, n)
		for place := range seen {
			seen[place] = slices.Clone(x)
			blockMix(x, r)
		}
		for range n {
			other := seen[x[16*(2*r-1)]&uint32(n-1)]
			for place := range x {
				x[place] ^= other[place]
			}
			blockMix(x, r)
		}
		for place, word := range x {
			binary.LittleEndian.PutUint32(block[4*place:], word)
		}
	}
	return derive(data, size)
}

func blockMix(b []uint32, r int) {
	x, y := slices.Clone(b[16*(2*r-1):]), make([]uint32, len(b))
	for i := range 2 * r {
		for place := range x {
			x[place] ^= b[16*i+place]
		}
		salsa(x)
		copy(y[16*(i/2+i%2*r):], x)
	}
	copy(b, y)
}

func salsa(b []uint32) {
	x := slices.Clone(b)
	quarter := func(a, b, c, d int) {
		x[b] ^= bits.RotateLeft32(x[a]+x[d], 7)
		x[c] ^= bits.RotateLeft32(x[b]+x[a], 9)
		x[d] ^= bits.RotateLeft32(x[c]+x[b], 13)
		x[a] ^= bits.RotateLeft32(x[d]+x[c], 18)
	}
	for range 4 {
		for i := range 4 {
			quarter(5*i, (5*i+4)%16, (5*i+8)%16, (5*i+12)%16)
		}
		for i := range 4 {
			quarter(5*i, 4*i+(i+1)%4, 4*i+(i+2)%4, 4*i+(i+3)%4)
		}
	}
	for place := range b {
		b[place] += x[place]
	}
}

// parseVector reads the keyset of a vector, with its passphrase if it has one.
func parseVector(t *testing.T, one *object) (file *keysetFile, err error) {
	passphrase, hasSecret := one.get("passphrase").(string)
	unlock := func(locks []*object) []byte {
		require(hasSecret, "secretNeeded", "there is no passphrase")
		refused := "secretNeeded"
		for _, lock := range locks {
			if !lock.has("passphrase") {
				continue
			}
			by := lock.object("passphrase")
			n, r, p := by.integer("n", 2, 1<<20), by.integer("r", 1, 32), by.integer("p", 1, 16)
			derived := scrypt(t, passphrase, by.bytes("salt", 16), int(n), int(r), int(p), 48)
			if bytes.Equal(derived[32:], by.bytes("check", 16)) {
				return openEnc(derived[:32], lock.bytes("key", 60), []byte("pushcrypt/1 keyset key"))
			}
			refused = "wrongSecret"
		}
		require(false, refused, "no entry is opened")
		return nil
	}
	defer catch(&err, "malformed", "the keyset")
	return parseKeyset([]byte(one.string("keyset")), unlock, hasSecret), nil
}

func pointOf(value any) Point {
	point := value.(*object)
	return Point{point.integer("n", 1, 1<<52), point.string("hash")}
}

func TestAKeysetFileIsReadAsTheVectorsSay(t *testing.T) {
	each(t, vectors(t, "keyset-log-v1.json"), "accepted", func(t *testing.T, one *object) {
		isLocked := bytes.Contains([]byte(one.string("keyset")), []byte(`"sealed"`)) && !one.has("passphrase")
		file, err := parseVector(t, one)
		if isLocked {
			wantCode(t, "encrypted keys without a secret", "secretNeeded", err)
			rows := bytes.Split([]byte(one.string("keyset")), []byte("\n"))
			file, err = &keysetFile{log: parseLog(rows[:len(rows)-2])}, nil
		}
		if err != nil {
			t.Fatal(err)
		}
		log, state := file.log, one.object("state")
		if log.id != one.get("id") || log.kind != one.get("kind") || log.head != pointOf(one.get("head")) {
			t.Errorf("id %s, kind %s, head %v", log.id, log.kind, log.head)
		}
		var points []Point
		for _, point := range one.list("points", 1, 1_000) {
			points = append(points, pointOf(point))
		}
		if !slices.Equal(points, log.points) {
			t.Errorf("points: want %v, got %v", points, log.points)
		}
		if log.at != readTime(state.get("at"), "at") || state.has("issuedAt") && log.issuedAt != readTime(state.get("issuedAt"), "issuedAt") {
			t.Errorf("at %d, issuedAt %d", log.at, log.issuedAt)
		}
		checkLoggedKeys(t, log, state)
		if isLocked {
			return
		}
		withMaterial := 0
		for _, logged := range log.keys {
			if !logged.isLost && !logged.times.has("destroyedAt") {
				withMaterial++
			}
		}
		keys := file.keys
		if len(keys.entries) != withMaterial || keys.Kind() != log.kind {
			t.Errorf("want %d keys of kind %s, got %v", withMaterial, log.kind, keys.entries)
		}
		for _, e := range keys.entries {
			if e.key.isPair() && e.key.secret != nil {
				t.Error("the private half of a recipient's key is kept")
			}
		}
	})
}

func checkLoggedKeys(t *testing.T, log *keysetLog, state *object) {
	keys := state.object("keys").members
	if len(keys) != len(log.keys) {
		t.Errorf("want %d keys, got %d", len(keys), len(log.keys))
	}
	for kid, one := range keys {
		want, got := one.value.(*object), log.keys[kid]
		if got == nil {
			t.Errorf("the key %s is missing", kid)
			continue
		}
		algorithm := "shared"
		if got.key != nil {
			algorithm = map[*keyType]string{p256: "p256", x25519: "x25519", xwing: "xwing", signing: "ed25519", publisher: "ed25519-publisher"}[got.key.keyType]
		}
		all := times{}
		for _, moment := range moments {
			if want.has(moment) {
				all[moment] = readTime(want.get(moment), moment)
			}
		}
		if want.get("algorithm") != algorithm || want.has("psk") != got.demandsPSK || want.has("lost") != got.isLost || !maps.Equal(all, got.times) {
			t.Errorf("key %s: %s, %v, %v, %v", kid, algorithm, got.demandsPSK, got.isLost, got.times)
		}
	}
	revoked := times{}
	if state.has("revoked") {
		for kid, moment := range state.object("revoked").members {
			revoked[kid] = readTime(moment.value, kid)
		}
	}
	if !maps.Equal(revoked, log.revoked) {
		t.Errorf("revoked: want %v, got %v", revoked, log.revoked)
	}
	secrets := 0
	if state.has("secrets") {
		secrets = len(state.list("secrets", 0, 8))
	}
	if secrets != len(log.secrets) {
		t.Errorf("want %d secrets, got %v", secrets, log.secrets)
	}
}

func TestAKeysetFileIsRefusedWithTheCodeAndRowOfTheVectors(t *testing.T) {
	each(t, vectors(t, "keyset-log-v1.json"), "refused", func(t *testing.T, one *object) {
		_, err := parseVector(t, one)
		refused, isRefused := err.(*Error)
		if !isRefused || refused.Code != one.get("code") || int64(refused.Row) != one.integer("row", 0, 1_000) {
			t.Errorf("want %v in row %v, got %v", one.get("code"), one.get("row"), err)
		}
	})
}

func TestALogExtendsThePointsOfTheVectors(t *testing.T) {
	logOf := func(text string) *keysetLog {
		return parseLog(bytes.Split(bytes.TrimSuffix([]byte(text), []byte("\n")), []byte("\n")))
	}
	each(t, vectors(t, "keyset-log-v1.json"), "extends", func(t *testing.T, one *object) {
		log := logOf(one.string("log"))
		var point Point
		if one.has("point") {
			point = pointOf(one.get("point"))
		} else {
			point = logOf(one.string("other")).head
		}
		if slices.Contains(log.points, point) != one.get("extends") {
			t.Errorf("want %v", one.get("extends"))
		}
	})
}

func TestAKeysetFileOfMoreThan4MiBOrOfOtherBytesThanUTF8IsRefused(t *testing.T) {
	wantCode(t, "4 MiB and a byte", "tooLarge", caught(func() { parseKeyset(bytes.Repeat([]byte("\n"), maxKeyset+1), nil, false) }))
	wantCode(t, "no UTF-8", "malformed", caught(func() { parseKeyset([]byte("{\"\xff\":1}\n{}\n"), nil, false) }))
	wantCode(t, "nothing", "incomplete", caught(func() { parseKeyset(nil, nil, false) }))
}

func TestTheCostOfScryptIsThatOfRFC7914(t *testing.T) {
	for cost, code := range map[string]string{`"n":32768,"r":1`: "", `"n":65536,"r":1`: "malformed", `"n":65536,"r":2`: "", `"n":1048576,"r":8`: ""} {
		lock := `{"name":"a","passphrase":{` + cost + `,"p":1,"salt":"AAAAAAAAAAAAAAAAAAAAAA","check":"AAAAAAAAAAAAAAAAAAAAAA"},"key":"` + base64Of(make([]byte, 60)) + `"}`
		wantCode(t, cost, code, caught(func() { require(forms["lock"](parse([]byte(lock))), "", "the lock") }))
	}
}

func TestTheLengthOfAListIsCheckedBeforeItsElements(t *testing.T) {
	items, looks := make([]any, 9), 0
	forms["counted"] = func(any) bool { looks++; return true }
	defer delete(forms, "counted")
	wantCode(t, "a long list", "malformed", caught(func() { listOf("counted", 0, 8, false)(items) }))
	if looks > 0 || !listOf("counted", 0, 8, false)(items[:8]) || looks != 8 {
		t.Errorf("%d elements are looked at", looks)
	}
}
