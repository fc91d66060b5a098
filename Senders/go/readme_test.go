package pushcrypt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// readmeBlocks returns the Go code of README.md.
func readmeBlocks(t *testing.T) (blocks []string) {
	text := string(ok[[]byte](t)(os.ReadFile("README.md")))
	for _, part := range strings.Split(text, "```go\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		blocks = append(blocks, code)
	}
	if len(blocks) != 3 {
		t.Fatalf("README.md has %d blocks of code", len(blocks))
	}
	return blocks
}

// checked puts a check behind every statement that sets err.
func checked(code string) string {
	var lines []string
	for _, line := range strings.SplitAfter(code, "\n") {
		lines = append(lines, line)
		if strings.Contains(line, ", err := ") && !strings.HasPrefix(line, "if ") && !strings.HasSuffix(line, "{\n") || line == "})\n" {
			lines = append(lines, "check(err)\n")
		}
	}
	return strings.Join(lines, "")
}

const readmeProgram = `package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	pushcrypt "github.com/pushcrypt/pushcrypt/Senders/go"
)

var ctx, upload, path = context.Background(), []byte(os.Args[1]), "Keys/wrapped.keyset"

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func first(apns, deviceToken, token string) {
	%s
	defer response.Body.Close()
	fmt.Println(response.StatusCode)
}

func rotation() {
	var lastHead *pushcrypt.Point
	store := func(head pushcrypt.Point) { fmt.Println("store", head.N) }
	%s
	fmt.Println(signer.Keyset().Kind())
	check(os.Rename("Keys/rotated.keyset", path))
	check(signer.Reload(ctx))
}

func oversize() {
	signer, err := pushcrypt.WatchKeyset(ctx, "Keys/backend.keyset", pushcrypt.KeysetOptions{})
	check(err)
	sealer, err := pushcrypt.NewSealer("com.example.app", signer)
	check(err)
	to, err := pushcrypt.ReadRecipient(upload)
	check(err)
	payload, placeholder := map[string]any{"aps": map[string]any{"alert": strings.Repeat("x", 5000)}}, pushcrypt.Placeholder{Body: "b"}
	upload := func(blob *pushcrypt.SealedBlob) (string, error) {
		fmt.Println("upload", len(blob.Data))
		return "https://files.example.com/1", nil
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stdout, nil)))
	%s
}

func main() {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println(r.Method, r.URL.Path, r.Header.Get("authorization"), r.Header.Get("apns-topic"), bytes.Contains(body, []byte("Amara")))
	}))
	server.StartTLS()
	defer server.Close()
	http.DefaultTransport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true}
	first(server.URL, "abc", "provider")
	rotation()
	oversize()
	_ = errors.Is
}
`

func TestTheCodeOfTheReadmeRuns(t *testing.T) {
	blocks := readmeBlocks(t)
	folder, module := t.TempDir(), ok[string](t)(filepath.Abs("."))
	if err := os.MkdirAll(filepath.Join(folder, "Keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	keysetKey := random(32)
	locks := `[{"name":"kms","command":true,"key":"` + base64Of([]byte("wrapped")) + `"}]`
	wrapped := created(t, `"kms"`)
	put(t, filepath.Join(folder, "Keys", "backend.keyset"), created(t, "").plain())
	put(t, filepath.Join(folder, "Keys", "wrapped.keyset"), wrapped.sealed(keysetKey, locks))
	put(t, filepath.Join(folder, "Keys", "rotated.keyset"), rotated(t, wrapped, "2026-03-01T00:00:00Z").sealed(keysetKey, locks))
	program := fmt.Sprintf(readmeProgram, checked(blocks[0]), checked(blocks[1]), blocks[2])
	files := map[string]string{
		"main.go":    program,
		"go.mod":     "module example\n\ngo 1.24\n\nrequire github.com/pushcrypt/pushcrypt/Senders/go v0.0.0\n\nreplace github.com/pushcrypt/pushcrypt/Senders/go => " + module + "\n",
		"kms-client": "#!/bin/sh\ntest \"$1 $2\" = \"push unwrap\" && cat > /dev/null && cat key\n", "key": string(keysetKey),
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.CommandContext(t.Context(), "go", "run", ".", string(testRecord(t, "p256 psk")))
	command.Dir, command.Env = folder, append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "GOFLAGS=-mod=mod")
	output, err := command.CombinedOutput()
	want := "POST /3/device/abc bearer provider com.example.app false\n200\nsender\nstore 2\n"
	got := string(output)
	if err != nil || !strings.HasPrefix(got, want) || !strings.Contains(got, "the push is too large") || !strings.Contains(got, "upload 8") {
		t.Errorf("want %s, got %v: %s", want, err, got)
	}
}
