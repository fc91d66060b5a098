package pushcrypt

import (
	"bytes"
	"crypto/ecdh"
	"crypto/mlkem"
	"crypto/rand"
	"crypto/sha3"
)

// prepareXWing checks both halves of a key of suite 3. The platform refuses coefficients that aren't reduced (FIPS 203 section 7.2).
func (k *key) prepareXWing() bool {
	var err error
	if k.kem, err = mlkem.NewEncapsulationKey768(k.public[:mlkem.EncapsulationKeySize768]); err != nil {
		return false
	}
	half := k.public[mlkem.EncapsulationKeySize768:]
	if k.secret == nil {
		return k.prepareDH(ecdh.X25519(), half, nil)
	}
	// 5.2. expandDecapsulationKey(sk): SHAKE256(sk, 96) is the seed of ML-KEM, 64 bytes, and the key of X25519.
	expanded := sha3.SumSHAKE256(k.secret, 96)
	private := must(mlkem.NewDecapsulationKey768(expanded[:mlkem.SeedSize]))
	isPair := bytes.Equal(private.EncapsulationKey().Bytes(), k.kem.Bytes())
	return isPair && k.prepareDH(ecdh.X25519(), half, expanded[mlkem.SeedSize:])
}

// encapsulateXWing is Encapsulate of draft-connolly-cfrg-xwing-kem section 5.4: ss = SHA3-256(ss_M ‖ ss_X ‖ ct_X ‖ pk_X ‖ label).
func (k *key) encapsulateXWing() (secret, enc []byte) {
	first, ciphertext := k.kem.Encapsulate()
	ephemeral := must(ecdh.X25519().GenerateKey(rand.Reader))
	second, share := must(ephemeral.ECDH(k.dh)), ephemeral.PublicKey().Bytes()
	sum := sha3.Sum256(join(first, second, share, k.dh.Bytes(), []byte(`\.//^\`)))
	return sum[:], join(ciphertext, share)
}

// isMaster says whether it is a shared key that isn't a device's.
func (k *key) isMaster() bool { return k.keyType == shared && k.device == "" }

// encryptShared returns salt ‖ ct of suite 4 (PROTOCOL section 3). With a salt that isn't fresh, two messages would have one key
// and nonce.
func encryptShared(to *key, info, salt, plaintext []byte) []byte {
	okm := expand(mac(salt, to.secret), info, 32+nonceSize)
	return gcm(okm[:32]).Seal(salt, okm[32:], plaintext, nil)
}

// ForDevice returns a device's own key, if this is a shared key. The id has 1 to 64 characters of A-Z a-z 0-9 _ -. It is random,
// and never used again (section 3). Errors: invalidDeviceID, wrongKind.
func (r *Recipient) ForDevice(id string) (device *Recipient, err error) {
	defer catch(&err, "malformed", "the device id")
	require(r.key().isMaster(), "wrongKind", "only a shared key that isn't a device's derives keys of devices")
	require(nameForm.MatchString(id), "invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
	info := join(label(" device"), lp16(r.key().kid), lp16(id))
	k := &key{keyType: shared, kid: r.key().kid, device: id, secret: expand(mac(nil, r.key().secret), info, 32)}
	k.prepare()
	return newRecipient(k), nil
}
