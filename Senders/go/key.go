package pushcrypt

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keyType is a type of key records (PROTOCOL section 3). Of a type with a suite of HPKE it has the algorithms (RFC 9180 section 7).
type keyType struct {
	kty, crv, alg, kind string
	// members are those of such a record, and secret that of the private key or the shared secret.
	members, secret string
	// thumbprint is what RFC 7638, RFC 8037 or RFC 9964 hash, with places for the values of hashed, of partSize bytes each.
	thumbprint string
	hashed     []string
	partSize   int
	// suite is that of messages to such a key, or 0, and headerSize the bytes before ct: enc or salt.
	suite, headerSize int
	kemID, aeadID     uint16
	// keySize is that of the AEAD's key, in bytes.
	keySize int
}

var (
	p256 = &keyType{"EC", "P-256", "HPKE-7", "recipient", "kty crv x y d alg kid psk", "d",
		`{"crv":"P-256","kty":"EC","x":"%s","y":"%s"}`, []string{"x", "y"}, 32, 1, 65, 0x0010, 2, 32}
	x25519 = &keyType{"OKP", "X25519", "HPKE-3", "recipient", "kty crv x d alg kid psk", "d",
		`{"crv":"X25519","kty":"OKP","x":"%s"}`, []string{"x"}, 32, 2, 32, 0x0020, 1, 16}
	xwing = &keyType{"AKP", "", "pushcrypt-3", "recipient", "kty pub priv alg kid psk", "priv",
		`{"alg":"pushcrypt-3","kty":"AKP","pub":"%s"}`, []string{"pub"}, 1_216, 3, 1_120, 0x647a, 2, 32}
	shared = &keyType{"oct", "", "HKDF-A256GCM", "shared", "kty k alg kid", "k",
		`{"k":"%s","kty":"oct"}`, []string{"k"}, 32, 4, 16, 0, 0, 0}
	signing = &keyType{"OKP", "Ed25519", "Ed25519", "sender", "kty crv x d alg kid", "d",
		`{"crv":"Ed25519","kty":"OKP","x":"%s"}`, []string{"x"}, 32, 0, 0, 0, 0, 0}
	publisher = &keyType{"OKP", "Ed25519", "Ed25519", "publisher", "kty crv x d alg kid role", "d",
		`{"crv":"Ed25519","kty":"OKP","x":"%s"}`, []string{"x"}, 32, 0, 0, 0, 0, 0}
)

// isPair says whether HPKE seals to such a key.
func (t *keyType) isPair() bool { return 1 <= t.suite && t.suite <= 3 }

// rank is higher for suites whose recorded messages stay secret from a later quantum computer.
func rank(suite int) int { return suite / 3 }

// key is one key record. What the record doesn't have is nil or empty.
type key struct {
	*keyType
	kid, device string
	// public is the serialised public key; that of P-256 is uncompressed.
	public, secret, psk []byte
	// recipient is R of section 4, of a day key that of its record.
	recipient []byte
	// dh is the key of suites 1 and 2, and the second half of suite 3, and kem the first half of suite 3.
	dh     *ecdh.PublicKey
	kem    *mlkem.EncapsulationKey768
	signer ed25519.PrivateKey
	// set is that of a registration record with day keys.
	set *deviceSet
}

// readKey reads a JWK. If isChecked is false, the key may be no point of its curve, and only its record is used.
func readKey(value any, isChecked bool) *key {
	jwk := as[*object](value, "a key record")
	jwk.string("kty")
	k := &key{kid: base64Of(jwk.bytes("kid", 8))}
	for _, one := range []*keyType{p256, x25519, xwing, shared, signing, publisher} {
		isOwnRole := one.suite > 0 || jwk.has("role") == (one == publisher) && (one == signing || jwk.get("role") == "publisher")
		if jwk.get("kty") == one.kty && jwk.get("alg") == one.alg && (one.crv == "" || jwk.get("crv") == one.crv) && isOwnRole {
			k.keyType = one
		}
	}
	require(k.keyType != nil, "unsupportedKey", "the kty, crv, alg or role of key %s isn't supported", k.kid)
	for _, name := range []string{"d", "priv", "psk"} {
		isOwn := slices.Contains(strings.Fields(k.members), name)
		require(isOwn || !jwk.has(name), "", "key %s has %s, which a key of its type can't have", k.kid, name)
	}
	var hashed []any
	var parts []byte
	for _, name := range k.hashed {
		parts, hashed = append(parts, jwk.bytes(name, k.partSize)...), append(hashed, jwk.string(name))
	}
	if k.keyType == p256 {
		parts = append([]byte{4}, parts...)
	}
	if k.keyType != shared {
		k.public = parts
	}
	if jwk.has(k.keyType.secret) {
		k.secret = jwk.bytes(k.keyType.secret, 32)
	}
	if jwk.has("psk") {
		k.psk = jwk.bytes("psk", 32)
	}
	require(!isChecked || k.prepare(), "invalidKey", "key %s isn't valid, or its private key isn't that of its public key", k.kid)
	if jwk.has("device") {
		k.device = jwk.string("device")
		require(k.keyType == shared && nameForm.MatchString(k.device), "", "key %s has no device id of the needed form", k.kid)
	}
	// Only a device key has a kid that isn't its own: that of its master.
	own := base64Of(digest(fmt.Appendf(nil, k.thumbprint, hashed...))[:8])
	require(k.device != "" || k.kid == own, "kidMismatch", "the kid %s isn't that of its key, %s", k.kid, own)
	if k.isPair() && k.secret == nil && jwk.has("deviceSet") {
		k.set = readDeviceSet(jwk.string("deviceSet"), k)
	}
	return k
}

// hidden holds a secret. fmt prints a function as its address, with every verb; it follows pointers with a verb that doesn't fit.
type hidden[T any] func() T

func hide[T any](secret T) hidden[T] { return func() T { return secret } }

// Recipient is the key of one installation of the app, to which a sender seals. It never changes, and has no private key.
type Recipient struct {
	key hidden[*key]
}

func newRecipient(k *key) *Recipient {
	isOpen := k.suite > 0 && (k.secret == nil || k.keyType == shared)
	require(isOpen, "wrongKind", "key %s is private, and only its owner may have it; or it signs, and nothing is sealed to it", k.kid)
	return &Recipient{hide(k)}
}

// ReadRecipient reads a public, a shared or a device key: a JWK, or a set of one. Read an app's upload with [ReadRegistration]: this
// function doesn't read the day keys of a record, of which sealing reads that of the day. Errors: wrongKind for a private key or one that
// signs, pskMissing, noKeySeals, and those of [ReadKeyset].
func ReadRecipient(record []byte) (to *Recipient, err error) {
	defer catch(&err, "malformed", "the key record")
	return must(ReadKeyset(record)).only().recipient(), nil
}

// KeyID returns the id of the key, 11 characters.
func (r *Recipient) KeyID() string { return r.key().kid }

// Suite returns the suite of messages to the key, 1 to 4.
func (r *Recipient) Suite() int { return r.key().suite }

// Signer gives the key that signs at a time: a [SenderKey], a [Keyset] or a [KeysetWatcher].
type Signer interface {
	SenderKeyAt(now time.Time) (*SenderKey, error)
}

// SenderKey is a sender's private key, Ed25519, which signs messages. It never changes.
type SenderKey struct {
	key hidden[*key]
}

func newSenderKey(k *key) *SenderKey {
	require(k.keyType == signing && k.secret != nil, "wrongKind", "key %s isn't a sender's private key", k.kid)
	return &SenderKey{hide(k)}
}

// ReadSenderKey reads a private JWK, or a set of one. Errors: wrongKind, noKeySeals, and those of [ReadKeyset].
func ReadSenderKey(record []byte) (signer *SenderKey, err error) {
	defer catch(&err, "malformed", "the key record")
	return newSenderKey(must(ReadKeyset(record)).only().key), nil
}

// KeyID returns the id of the key, 11 characters.
func (s *SenderKey) KeyID() string { return s.key().kid }

// SenderKeyAt returns the key itself.
func (s *SenderKey) SenderKeyAt(time.Time) (*SenderKey, error) { return s, nil }
