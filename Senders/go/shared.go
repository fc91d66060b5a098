package pushcrypt

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
