package pushcrypt

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
)

const hashSize, tagSize, nonceSize = 32, 16, 12 // bytes

// spaces are those behind a message or a payload.
var spaces = bytes.Repeat([]byte(" "), maxLimit)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func random(size int) []byte {
	found := make([]byte, size)
	must(rand.Read(found))
	return found
}

// lp16 is the length of a text in bytes as an unsigned 16-bit integer, and the text.
func lp16(text string) []byte {
	return append(binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(text)), uint16(len(text))), text...)
}

// label is the beginning of what is hashed or signed, with the zero byte behind it.
func label(purpose string) []byte { return []byte("pushcrypt/1" + purpose + "\x00") }

func base64Of(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// unbase64 returns the bytes of canonical base64url (RFC 4648 section 5). A size of 0 is one of 1 or more.
func unbase64(value any, size int, name string) []byte {
	text, _ := value.(string)
	found, err := base64.RawURLEncoding.DecodeString(text)
	isRight := err == nil && base64Of(found) == text && len(found) > 0 && (size == 0 || len(found) == size)
	require(isRight, "", "%s isn't canonical base64url, or not of the needed size", name)
	return found
}

func digest(parts ...[]byte) []byte {
	found := sha256.Sum256(join(parts...))
	return found[:]
}

// mac is HMAC-SHA256, and with a salt as the key HKDF-Extract.
func mac(key []byte, parts ...[]byte) []byte {
	found := hmac.New(sha256.New, key)
	for _, part := range parts {
		found.Write(part)
	}
	return found.Sum(nil)
}

// expand is HKDF-Expand of RFC 5869 section 2.3 with SHA-256.
func expand(prk, info []byte, size int) []byte {
	return must(hkdf.Expand(sha256.New, prk, string(info), size))
}

func gcm(key []byte) cipher.AEAD { return must(cipher.NewGCM(must(aes.NewCipher(key)))) }
