package pushcrypt

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"
)

// primitives returns what a signed push can't do without: random bytes, a key pair, the agreement or encapsulation, in suite 4 HKDF,
// the signature and the AEAD.
func primitives(to, signer *key, size int) func() {
	text, prk := make([]byte, size), make([]byte, 32)
	aead := make([]byte, max(to.keySize, 16))
	if to.keyType == shared {
		aead = make([]byte, 32)
	}
	return func() {
		random(idSize)
		switch to.keyType {
		case shared:
			expand(mac(random(shared.headerSize), to.secret), prk, 44)
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

// timeOf returns the time of a call, of twenty.
func timeOf(run func()) time.Duration {
	start := time.Now()
	for range 20 {
		run()
	}
	return time.Since(start) / 20
}

// BenchmarkSealing compares a signed push with its primitives. They take turns, so that both see the same machine, and the best time
// of each counts.
func BenchmarkSealing(b *testing.B) {
	keys, sealer, signer := privateKeys(b), testSealer(b, true), testSigner(b).key()
	payload := `{"aps":{"alert":{"title":"Dr. Amara Osei","body":"` + strings.Repeat("x", 300) + `"},"sound":"default"},"message":"abc"}`
	for _, name := range []string{"p256 psk", "x25519 psk", "xwing psk", "device"} {
		k := keys[name]
		if k.isPair() {
			k = k.publicHalf(k.psk)
		}
		to := newRecipient(k)
		b.Run(fmt.Sprintf("suite %d", k.suite), func(b *testing.B) {
			push := ok[*SealedPush](b)(sealer.Seal(payload, to, plainPlaceholder, Options{}))
			size := len(parse(push.Body).object("pushcrypt").bytes("sealed", 0)) - k.headerSize - tagSize
			bare := primitives(k, signer, size)
			bestSeal, bestBare := time.Hour, time.Hour
			for b.Loop() {
				bestSeal = min(bestSeal, timeOf(func() { must(sealer.Seal(payload, to, plainPlaceholder, Options{})) }))
				bestBare = min(bestBare, timeOf(bare))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(bestSeal.Nanoseconds()), "ns/seal")
			b.ReportMetric(float64(bestBare.Nanoseconds()), "ns/primitives")
			b.ReportMetric(float64(bestSeal)/float64(bestBare), "seal/primitives")
		})
	}
}
