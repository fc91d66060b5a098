package pushcrypt

import "crypto/ed25519"

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
