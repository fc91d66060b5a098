package pushcrypt

import (
	"crypto/ed25519"
	"crypto/rand"
	"flag"
	"math"
	"strings"
	"testing"
	"time"
)

var measuresCost = flag.Bool("cost", false, "compare the time of sealing with that of the primitives")

// primitives returns what a signed push can't do without: a key pair, the agreement or encapsulation, HKDF, the signature and the AEAD.
func primitives(to, signer *key, size int) func() {
	text, prk := make([]byte, size), make([]byte, 32)
	aead := make([]byte, max(to.keySize, 16))
	if to.keyType == shared {
		aead = make([]byte, 32)
	}
	return func() {
		switch to.keyType {
		case shared:
			expand(mac(prk, to.secret), prk, 44)
		case xwing:
			to.kem.Encapsulate()
			fallthrough
		default:
			must(must(to.dh.Curve().GenerateKey(rand.Reader)).ECDH(to.dh))
		}
		ed25519.Sign(signer.signer, text)
		gcm(aead).Seal(nil, prk[:nonceSize], text, nil)
	}
}

// bestOf returns the shortest time of a call. The two functions take turns, so that both see the same machine.
func bestOf(first, second func()) (a, b time.Duration) {
	a, b = math.MaxInt64, math.MaxInt64
	measure := func(run func()) time.Duration {
		start := time.Now()
		for range 20 {
			run()
		}
		return time.Since(start) / 20
	}
	for range 200 {
		a, b = min(a, measure(first)), min(b, measure(second))
	}
	return a, b
}

func TestTheCostOfSealingIsThatOfThePrimitives(t *testing.T) {
	if !*measuresCost {
		t.Skip("needs -cost and an idle machine")
	}
	keys, sealer := privateKeys(t), testSealer(t, true)
	payload := `{"aps":{"alert":{"title":"Dr. Amara Osei","body":"` + strings.Repeat("x", 300) + `"},"sound":"default"},"message":"abc"}`
	for _, name := range []string{"p256 psk", "x25519 psk", "xwing psk", "device"} {
		to := newRecipient(keys[name].publicHalf(keys[name].psk))
		if keys[name].keyType == shared {
			to = newRecipient(keys[name])
		}
		push := ok[*SealedPush](t)(sealer.Seal(payload, to, plainPlaceholder))
		size := len(parse(push.Body, false).object("pushcrypt").bytes("sealed", 0)) - to.key().headerSize - tagSize
		seal := func() { must(sealer.Seal(payload, to, plainPlaceholder)) }
		sealed, bare := bestOf(seal, primitives(to.key(), testSigner(t).key(), size))
		t.Logf("suite %d, signed, psk %v: %v, primitives %v, %.2f", to.Suite(), to.key().psk != nil, sealed, bare, float64(sealed)/float64(bare))
	}
}
