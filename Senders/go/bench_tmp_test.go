package pushcrypt

import (
	"strings"
	"testing"
)

func BenchmarkParts(b *testing.B) {
	keys := privateKeys(b)
	text := `{"aps":{"alert":{"title":"Dr. Amara Osei","body":"` + strings.Repeat("x", 300) + `"},"sound":"default"},"message":"abc"}`
	to := keys["device"]
	signer := testSigner(b).key()
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
	inner := must(readPayload(text))
	s := newSettings(nil, binding{to, signer, testTopic, false})
	s.header.ID = base64Of(random(16))
	s.header.ExpiresAt = 5
	bound := binding{to, signer, testTopic, false}
	msg := make([]byte, 512)
	run("readPayload", func() { must(readPayload(text)) })
	run("settings", func() { newSettings(nil, binding{to, signer, testTopic, false}) })
	run("writeHeader", func() { write(s.header) })
	run("alert", func() { plainPlaceholder.alert() })
	run("writealert", func() { write(plainPlaceholder) })
	run("random", func() { random(16) })
	run("info", func() { bound.info() })
	run("plaintext", func() { bound.plaintext(msg, msg) })
	run("seal", func() { bound.seal(msg) })
	run("encryptShared", func() { encryptShared(to, msg[:60], msg[:16], msg) })
	run("frame", func() { sealing{bound, s, []byte("{}")}.frame(inner) })
	run("base64", func() { base64Of(msg) })
	run("gcm", func() { gcm(msg[:32]) })
	run("mac", func() { mac(msg[:32], msg[:32]) })
	run("expand", func() { expand(msg[:32], msg[:60], 44) })
	run("push", func() { sealing{bound, s, []byte(`{"title":"x"}`)}.push(inner) })
}
