package pushcrypt

import (
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
)

// binding has what a sealed message is bound to (PROTOCOL section 4). The signer is nil if the message is unsigned.
type binding struct {
	to, signer  *key
	topic       string
	isChallenge bool
}

// info has the profile: bit 0 psk, bit 1 signed, bit 2 challenge.
func (b binding) info() []byte {
	profile, skid := byte(0), ""
	if b.to.psk != nil {
		profile |= 1
	}
	if b.signer != nil {
		profile, skid = profile|2, b.signer.kid
	}
	if b.isChallenge {
		profile |= 4
	}
	return join(label(""), []byte{byte(b.to.suite), profile}, lp16(b.to.kid), lp16(skid), lp16(b.topic))
}

// plaintext is signature(64) ‖ message, or the message alone.
func (b binding) plaintext(info, message []byte) []byte {
	if b.signer == nil {
		return message
	}
	return join(ed25519.Sign(b.signer.signer, join(label(" signature"), info, b.to.recipient, message)), message)
}

// overhead is the number of bytes that sealing adds to a message.
func (b binding) overhead() int {
	if b.signer == nil {
		return b.to.headerSize + tagSize
	}
	return b.to.headerSize + tagSize + ed25519.SignatureSize
}

// seal returns the bytes of sealed: enc or salt, and the encryption.
func (b binding) seal(message []byte) []byte {
	info := b.info()
	if b.to.keyType == shared {
		return encryptShared(b.to, info, random(shared.headerSize), b.plaintext(info, message))
	}
	secret, enc := b.to.encapsulate()
	return join(enc, encrypt(b.to, secret, info, b.plaintext(info, message)))
}

// encrypt returns ct of suites 1 to 3. The psk_id is the 11 bytes of kid.
func encrypt(to *key, sharedSecret, info, plaintext []byte) []byte {
	var pskID []byte
	if to.psk != nil {
		pskID = []byte(to.kid)
	}
	aead, nonce := to.schedule(sharedSecret, info, to.psk, pskID)
	return gcm(aead).Seal(nil, nonce, plaintext, nil)
}

// The sender's side of HPKE (RFC 9180), modes base and psk, with the KDF HKDF-SHA256. Comments name the RFC's sections.

const hkdfSHA256 = 0x0001

func suiteID(id string, algorithms ...uint16) []byte {
	return must(binary.Append([]byte(id), binary.BigEndian, algorithms))
}

// labeledExtract is 4. Extract(salt, concat("HPKE-v1", suite_id, label, ikm)).
func labeledExtract(suite, salt []byte, label string, ikm []byte) []byte {
	return mac(salt, []byte("HPKE-v1"), suite, []byte(label), ikm)
}

// labeledExpand is 4. Expand(prk, concat(I2OSP(L, 2), "HPKE-v1", suite_id, label, info), L).
func labeledExpand(suite, prk []byte, label string, info []byte, size int) []byte {
	return expand(prk, join([]byte{0, byte(size)}, []byte("HPKE-v1"), suite, []byte(label), info), size)
}

// encapsulate returns the shared secret and enc, of fresh random numbers.
func (k *key) encapsulate() (secret, enc []byte) {
	if k.keyType == xwing {
		return k.encapsulateXWing()
	}
	return k.encap(must(k.dh.Curve().GenerateKey(rand.Reader)))
}

// encap is 4.1. Encap(pkR). With an ephemeral key that isn't fresh, two messages would have one key and nonce.
func (k *key) encap(ephemeral *ecdh.PrivateKey) (secret, enc []byte) {
	enc = ephemeral.PublicKey().Bytes()
	// 7.1.4. The platform refuses a secret of zeros.
	dh, suite := must(ephemeral.ECDH(k.dh)), suiteID("KEM", k.kemID)
	prk := labeledExtract(suite, nil, "eae_prk", dh)
	return labeledExpand(suite, prk, "shared_secret", join(enc, k.public), hashSize), enc
}

// schedule is 5.1. KeySchedule(mode, shared_secret, info, psk, psk_id): mode 1 with a psk, and 0 without one.
func (k *key) schedule(sharedSecret, info, psk, pskID []byte) (aead, nonce []byte) {
	suite, mode := suiteID("HPKE", k.kemID, hkdfSHA256, k.aeadID), []byte{byte(min(len(psk), 1))}
	context := join(mode, labeledExtract(suite, nil, "psk_id_hash", pskID), labeledExtract(suite, nil, "info_hash", info))
	secret := labeledExtract(suite, sharedSecret, "secret", psk)
	return labeledExpand(suite, secret, "key", context, k.keySize), labeledExpand(suite, secret, "base_nonce", context, nonceSize)
}
