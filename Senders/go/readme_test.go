package pushcrypt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	pushcrypt "github.com/pushcrypt/pushcrypt/Senders/go"
)

// The functions first, rotation and oversize have the code of README.md, with a check behind each statement that sets err.

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func first(ctx context.Context, upload []byte, apns, deviceToken, token string) {
	signer, err := pushcrypt.WatchKeyset(ctx, "Keys/backend.keyset", pushcrypt.KeysetOptions{}) // pushcrypt keys create Keys/backend --kind sender
	check(err)
	sealer, err := pushcrypt.NewSealer("com.example.app", signer)
	check(err)
	phone, err := pushcrypt.ReadRegistration(upload, pushcrypt.RequirePSK, pushcrypt.RequireAsymmetric)
	check(err)
	payload := map[string]any{"aps": map[string]any{"alert": map[string]string{"title": "Dr. Amara Osei", "body": "Your results are in."}}}
	placeholder := pushcrypt.Placeholder{Title: "New message", Body: "Open the app to read it"}
	push, err := sealer.Seal(payload, phone.Recipient, placeholder, pushcrypt.Options{})
	check(err)
	request, err := http.NewRequestWithContext(ctx, "POST", apns+"/3/device/"+deviceToken, bytes.NewReader(push.Body))
	check(err)
	request.Header.Set("authorization", "bearer "+token)
	for name, value := range push.Headers() {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request) // apns is https://api.push.apple.com
	check(err)
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
}

func rotation(ctx context.Context, path string, store func(pushcrypt.Point)) {
	var lastHead *pushcrypt.Point
	signer, err := pushcrypt.WatchKeyset(ctx, path, pushcrypt.KeysetOptions{
		Command:   []string{"kms-client", "push"},             // runs "kms-client push unwrap", without a shell
		Seen:      lastHead,                                   // a file that is older than in the last run is refused
		OnChange:  func(head pushcrypt.Point) { store(head) }, // for Seen of the next run
		OnRefusal: func(err error) { slog.Error("keyset", "error", err) },
	})
	check(err)
	check(os.Rename("Keys/rotated.keyset", path))
	check(signer.Reload(ctx))
}

func oversize(sealer *pushcrypt.Sealer, to *pushcrypt.Recipient, payload any, upload func(*pushcrypt.SealedBlob) (string, error)) {
	placeholder := pushcrypt.Placeholder{Body: "b"}
	var refused *pushcrypt.Error
	if _, err := sealer.Seal(payload, to, placeholder, pushcrypt.Options{}); errors.As(err, &refused) && refused.Code == "tooLarge" {
		tooMany := refused.BytesNeeded - refused.BytesAvailable // shorten the text, or seal it as a blob
		slog.Warn("the push is too large", "bytes", tooMany)
		_, err = sealer.Seal(payload, to, placeholder, pushcrypt.Options{Offload: upload})
	}
}

// withoutIndentation has the lines without the spaces around them, and without checks.
func withoutIndentation(code string) (lines string) {
	for line := range strings.Lines(code) {
		if line = strings.TrimSpace(line); line != "check(err)" {
			lines += line + "\n"
		}
	}
	return lines
}

func TestTheCodeOfTheReadmeRuns(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	check(err)
	own, err := os.ReadFile("readme_test.go")
	check(err)
	blocks := strings.Split(string(readme), "```go\n")[1:]
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(withoutIndentation(string(own)), withoutIndentation(code)) {
			t.Errorf("this file hasn't the code %s", code)
		}
	}
	upload := pushcrypt.RecordOf(t, "p256 psk")
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	check(err)
	t.Setenv("PATH", here+":"+os.Getenv("PATH"))
	pushcrypt.PutKeysets(t)

	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got := fmt.Sprint(r.Method, r.URL.Path, r.Header.Get("authorization"), r.Header.Get("apns-topic"), bytes.Contains(body, []byte("Amara")))
		if got != "POST/3/device/abcbearer providercom.example.appfalse" {
			t.Error(got)
		}
	}))
	defer server.Close()
	http.DefaultClient = server.Client()
	first(t.Context(), upload, server.URL, "abc", "provider")

	var heads []pushcrypt.Point
	rotation(t.Context(), "Keys/wrapped.keyset", func(head pushcrypt.Point) { heads = append(heads, head) })
	if len(heads) != 1 || heads[0].N != 2 {
		t.Errorf("stored %v", heads)
	}

	signer, err := pushcrypt.WatchKeyset(t.Context(), "Keys/backend.keyset", pushcrypt.KeysetOptions{})
	check(err)
	sealer, err := pushcrypt.NewSealer("com.example.app", signer)
	check(err)
	to, err := pushcrypt.ReadRecipient(upload)
	check(err)
	var log bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	size := 0
	payload := map[string]any{"aps": map[string]any{"alert": strings.Repeat("x", 5000)}}
	oversize(sealer, to, payload, func(blob *pushcrypt.SealedBlob) (string, error) {
		size = len(blob.Data)
		return "https://files.example.com/1", nil
	})
	if size < 8_000 || !strings.Contains(log.String(), "the push is too large") {
		t.Errorf("a blob of %d bytes, and the log %s", size, log.String())
	}
}
