package pushcrypt

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/mlkem"
	"crypto/sha3"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

const testTopic = "com.example.app"

// vectors reads a file of Conformance/vectors, of which an array is in the member "all".
func vectors(t testing.TB, name string) *object {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "Conformance", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		text = join([]byte(`{"all":`), text, []byte("}"))
	}
	return parse(text)
}

// each runs a test for every object of an array.
func each(t *testing.T, file *object, name string, run func(t *testing.T, one *object)) {
	t.Helper()
	items := file.list(name, 1, 1<<20)
	for place, item := range items {
		one := item.(*object)
		label, _ := one.get("name").(string)
		t.Run(fmt.Sprintf("%s %d %s", name, place, label), func(t *testing.T) { run(t, one) })
	}
}

func unhex(t testing.TB, o *object, name string) []byte {
	t.Helper()
	text, _ := o.get(name).(string)
	data, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func wantBytes(t testing.TB, what string, want, got []byte) {
	t.Helper()
	if !bytes.Equal(want, got) {
		t.Errorf("%s: want %x, got %x", what, want, got)
	}
}

// codeOf returns the code of an error, or "" for none.
func codeOf(t testing.TB, err error) string {
	t.Helper()
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("another error than *Error: %v", err)
	}
	if err == nil {
		return ""
	}
	return refused.Code
}

func wantCode(t testing.TB, what, want string, err error) {
	t.Helper()
	if got := codeOf(t, err); got != want {
		t.Errorf("%s: want the code %q, got %v", what, want, err)
	}
}

func ok[T any](t testing.TB) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// caught returns what an internal function refuses.
func caught(run func()) (err error) {
	defer catch(&err, "malformed", "it")
	run()
	return nil
}

// RecordOf returns the JWK of a key of sender-refusals-v1.json; "sender" is private.
func RecordOf(t testing.TB, name string) []byte {
	t.Helper()
	return []byte(vectors(t, "sender-refusals-v1.json").object("records").string(name))
}

// privateKeys are the keys of pushcrypt-v1.json and xwing-keys.json, with which tests open.
func privateKeys(t testing.TB) map[string]*key {
	t.Helper()
	keys := map[string]*key{}
	for _, file := range []string{"pushcrypt-v1.json", "xwing-keys.json"} {
		for name, one := range vectors(t, file).object("keys").members {
			keys[name] = readKey(one.value, true)
		}
	}
	return keys
}

func testSigner(t testing.TB) *SenderKey {
	return ok[*SenderKey](t)(ReadSenderKey(RecordOf(t, "sender")))
}

func testSealer(t testing.TB, isSigned bool) *Sealer {
	t.Helper()
	sealer := ok[*Sealer](t)(NewUnsignedSealer(testTopic))
	if isSigned {
		sealer = ok[*Sealer](t)(NewSealer(testTopic, testSigner(t)))
	}
	sealer.Now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	return sealer
}

// decapsulate is the recipient's side of encapsulate.
func decapsulate(k *key, enc []byte) []byte {
	if k.keyType != xwing {
		private := must(k.dh.Curve().NewPrivateKey(k.secret))
		dh := must(private.ECDH(must(k.dh.Curve().NewPublicKey(enc))))
		suite := suiteID("KEM", k.kemID)
		return labeledExpand(suite, labeledExtract(suite, nil, "eae_prk", dh), "shared_secret", join(enc, k.public), hashSize)
	}
	expanded := sha3.SumSHAKE256(k.secret, 96)
	first := must(must(mlkem.NewDecapsulationKey768(expanded[:64])).Decapsulate(enc[:1_088]))
	private := must(ecdh.X25519().NewPrivateKey(expanded[64:]))
	second := must(private.ECDH(must(ecdh.X25519().NewPublicKey(enc[1_088:]))))
	sum := sha3.Sum256(join(first, second, enc[1_088:], private.PublicKey().Bytes(), []byte(`\.//^\`)))
	return sum[:]
}

// open is the recipient's side of seal. It returns the message.
func (b binding) open(sealed []byte) ([]byte, error) {
	header, ct := sealed[:b.to.headerSize], sealed[b.to.headerSize:]
	info := b.info()
	var aead, nonce []byte
	if b.to.keyType == shared {
		okm := expand(mac(header, b.to.secret), info, 44)
		aead, nonce = okm[:32], okm[32:]
	} else {
		var pskID []byte
		if b.to.psk != nil {
			pskID = []byte(b.to.kid)
		}
		aead, nonce = b.to.schedule(decapsulate(b.to, header), info, b.to.psk, pskID)
	}
	plaintext, err := gcm(aead).Open(nil, nonce, ct, nil)
	if err != nil || b.signer == nil {
		return plaintext, err
	}
	signature, message := plaintext[:64], plaintext[64:]
	if !ed25519.Verify(b.signer.public, join(label(" signature"), info, b.to.recipient, message), signature) {
		return nil, errors.New("the signature is wrong")
	}
	return message, nil
}

// openPush returns the message of a push, sealed to a private key, of which tests read every member.
func openPush(t testing.TB, push *SealedPush, to *key, signer *key) *object {
	t.Helper()
	envelope := parse(push.Body).object("pushcrypt")
	if (signer != nil) != envelope.has("skid") {
		t.Fatal("skid doesn't say whether the push is signed")
	}
	message := ok[[]byte](t)(binding{to, signer, push.Topic, false}.open(envelope.bytes("sealed", 0)))
	return parse(message)
}
