package pushcrypt

import (
	"crypto/ecdh"
	"slices"
	"testing"
)

// keyOfVector makes a key of a vector of HPKE, whose AEAD may be another one than that of our suites.
func keyOfVector(t *testing.T, vector *object) *key {
	kind := *x25519
	if vector.integer("kem_id", 0, 65_535) == 0x0010 {
		kind = *p256
	}
	kind.aeadID = uint16(vector.integer("aead_id", 0, 65_535))
	kind.keySize = map[uint16]int{1: 16, 2: 32, 3: 32}[kind.aeadID]
	k := &key{keyType: &kind, public: unhex(t, vector, "pkRm"), secret: unhex(t, vector, "skRm")}
	curve := ecdh.X25519()
	if kind.suite == 1 {
		curve = ecdh.P256()
	}
	if !k.prepareDH(curve, k.public, k.secret) {
		t.Fatal("the key is refused")
	}
	return k
}

func checkEncryptions(t *testing.T, vector *object, aead, nonce []byte) {
	for place, one := range vector.list("encryptions", 1, 1_000) {
		encryption, number := one.(*object), int64(place)
		if encryption.has("seq") {
			number = encryption.integer("seq", 0, 1_000)
		}
		own := slices.Clone(nonce)
		own[11] ^= byte(number)
		own[10] ^= byte(number >> 8)
		ct := gcm(aead).Seal(nil, own, unhex(t, encryption, "pt"), unhex(t, encryption, "aad"))
		wantBytes(t, "ct", unhex(t, encryption, "ct"), ct)
	}
}

func TestHPKEComputesWhatAppendixAOfRFC9180Has(t *testing.T) {
	each(t, vectors(t, "rfc9180-appendix-a.json"), "all", func(t *testing.T, vector *object) {
		if vector.integer("mode", 0, 3) > 1 {
			return // The modes with a sender's key aren't those of this package.
		}
		k := keyOfVector(t, vector)
		ephemeral := ok[*ecdh.PrivateKey](t)(k.dh.Curve().NewPrivateKey(unhex(t, vector, "skEm")))
		secret, enc := k.encap(ephemeral)
		wantBytes(t, "enc", unhex(t, vector, "enc"), enc)
		wantBytes(t, "shared_secret", unhex(t, vector, "shared_secret"), secret)
		if k.keySize == 0 {
			return // Export only.
		}
		aead, nonce := k.schedule(secret, unhex(t, vector, "info"), unhex(t, vector, "psk"), unhex(t, vector, "psk_id"))
		wantBytes(t, "key", unhex(t, vector, "key"), aead)
		wantBytes(t, "base_nonce", unhex(t, vector, "base_nonce"), nonce)
		if k.aeadID < 3 {
			checkEncryptions(t, vector, aead, nonce)
		}
	})
}

func TestHPKEComputesTheEdgesOfTheDraft(t *testing.T) {
	each(t, vectors(t, "hpke-edges.json"), "all", func(t *testing.T, vector *object) {
		k := keyOfVector(t, vector)
		secret := decapsulate(k, unhex(t, vector, "enc"))
		aead, nonce := k.schedule(secret, unhex(t, vector, "info"), unhex(t, vector, "psk"), unhex(t, vector, "psk_id"))
		checkEncryptions(t, vector, aead, nonce)
	})
}

func TestEveryStepOfAPushHasTheValueOfTheVectors(t *testing.T) {
	each(t, vectors(t, "steps-v1.json"), "pushes", func(t *testing.T, push *object) {
		values, b := push.object("values"), binding{to: readKey(push.get("key"), true), topic: push.string("topic")}
		if push.get("sender") != nil {
			b.signer = readKey(push.get("sender"), true)
			wantBytes(t, "R", unhex(t, values, "R"), b.to.recipient)
		}
		info, plaintext := b.info(), unhex(t, values, "plaintext")
		wantBytes(t, "info", unhex(t, values, "info"), info)
		wantBytes(t, "plaintext", plaintext, b.plaintext(info, unhex(t, values, "message")))
		if b.to.keyType == shared {
			salt := unhex(t, values, "salt")
			wantBytes(t, "salt and ct", join(salt, unhex(t, values, "ct")), encryptShared(b.to, info, salt, plaintext))
			return
		}
		secret := decapsulate(b.to, unhex(t, values, "enc"))
		wantBytes(t, "shared_secret", unhex(t, values, "shared_secret"), secret)
		aead, nonce := b.to.schedule(secret, info, unhex(t, values, "psk"), unhex(t, values, "psk_id"))
		wantBytes(t, "key", unhex(t, values, "key"), aead)
		wantBytes(t, "base_nonce", unhex(t, values, "base_nonce"), nonce)
		wantBytes(t, "ct", unhex(t, values, "ct"), encrypt(b.to, secret, info, plaintext))
	})
}

func TestWhatIsEncapsulatedIsDecapsulatedInEverySuite(t *testing.T) {
	for name, k := range privateKeys(t) {
		if !k.isPair() {
			continue
		}
		secret, enc := k.encapsulate()
		wantBytes(t, name, secret, decapsulate(k, enc))
		if len(enc) != k.headerSize {
			t.Errorf("%s: enc has %d bytes", name, len(enc))
		}
	}
}
