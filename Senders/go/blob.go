package pushcrypt

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"regexp"
	"strconv"
)

// In bytes: a chunk's plaintext, that to a multiple of which payloads are padded, a file, a URL and its host.
const chunkSize, pageSize, maxFile, maxURL, maxHost = 65_536, 4_096, 1 << 48, 2_048, 253

// The purposes of blobs.
const forAttachment, forPayload = 1, 2

var (
	mimeForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.+_-]{0,63}/[a-z0-9][a-z0-9.+_-]{0,63}$`)
	urlForm  = regexp.MustCompile(`^https://([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*)(?::([0-9]{1,5}))?` +
		`(?:[/?](?:[A-Za-z0-9._~:/?\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)?$`)
)

// Reference says where a sealed blob is, and what opens it (PROTOCOL sections 6 and 7). Encoders such as encoding/json leave out the key:
// store [Reference.Key] too, and make the reference again with [NewReference].
type Reference struct {
	// URL is an https address of at most 2,048 bytes.
	URL string
	// Size is the length of the plaintext in bytes.
	Size int64
	// SHA256 is base64url of the digest of the whole blob.
	SHA256    string
	key       hidden[string]
	purpose   byte // 0 if the reference wasn't made here
	setsBadge bool
}

// NewReference returns the reference that has these members.
func NewReference(url, key string, size int64, sha256 string) Reference {
	return Reference{url, size, sha256, hide(key), 0, false}
}

// Key returns a secret: base64url of 32 bytes.
func (r Reference) Key() string {
	if r.key == nil {
		return ""
	}
	return r.key()
}

// blobMembers are those of a reference in a message, of which an offloaded payload has only the first four.
type blobMembers struct {
	URL    string `json:"url"`
	Key    string `json:"key"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
	Type   string `json:"type,omitempty"`
	ID     string `json:"id,omitempty"`
	Use    string `json:"use,omitempty"`
}

// Format writes no secret.
func (r Reference) Format(state fmt.State, _ rune) { fmt.Fprintf(state, "blob of %d bytes", r.Size) }

// LogValue writes no secret.
func (r Reference) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(r)) }

func (r Reference) check(purpose byte) *blobMembers {
	limit := map[byte]int64{forAttachment: maxFile, forPayload: maxPayload}[purpose]
	require(r.purpose == 0 || r.purpose == purpose, "", "an attachment refers to a payload, or Offloaded to a file")
	match := urlForm.FindStringSubmatch(r.URL)
	require(match != nil && len(r.URL) <= maxURL && len(match[1]) <= maxHost, "", "the URL of a blob isn't https, escaped, and at most 2,048 bytes")
	port, err := strconv.Atoi(match[2])
	require(match[2] == "" || err == nil && 1 <= port && port <= 65_535, "", "the port in the URL of a blob isn't 1 to 65,535")
	require(0 <= r.Size && r.Size <= limit, "", "the size of a blob isn't 0 to %d bytes", limit)
	unbase64(r.Key(), 32, "the key of a blob")
	unbase64(r.SHA256, hashSize, "the sha256 of a blob")
	return &blobMembers{URL: r.URL, Key: r.Key(), Size: r.Size, SHA256: r.SHA256}
}

// Attachment refers to a sealed file.
type Attachment struct {
	Reference
	// Type is the MIME type in lower case.
	Type string
	// ID, of 1 to 64 characters of A-Z a-z 0-9 _ -, isn't that of another attachment. It may be empty.
	ID string
	// Use is "avatar" for the picture of the message's sender, and empty for a file that is shown.
	Use string
}

func (a Attachment) check() *blobMembers {
	members := a.Reference.check(forAttachment)
	require(mimeForm.MatchString(a.Type), "", "an attachment's type isn't a MIME type in lower case")
	require(a.ID == "" || nameForm.MatchString(a.ID), "", "an attachment's id isn't 1 to 64 characters of A-Z, a-z, 0-9, _ and -")
	require(a.Use == "" || a.Use == "avatar", "", "an attachment's use isn't avatar")
	members.Type, members.ID, members.Use = a.Type, a.ID, a.Use
	return members
}

// SealedBlob is an encrypted file or payload. Don't store the key of its reference beside it.
type SealedBlob struct {
	// Data is what to upload.
	Data      []byte
	reference hidden[Reference]
}

// SealFile encrypts a file under a fresh key.
func SealFile(file []byte) *SealedBlob { return newBlob(forAttachment, file, false) }

// SealPayload encrypts a payload under a fresh key, padded to a multiple of 4 KiB. It takes what [Sealer.Seal] takes. Errors:
// invalidPayload.
func SealPayload(payload any) (blob *SealedBlob, err error) {
	defer catch(&err, "invalidPayload", "the payload")
	inner := must(readPayload(payload))
	return newBlob(forPayload, join(inner.root.text, spaces[:-len(inner.root.text)&(pageSize-1)]), inner.aps.has("badge")), nil
}

func newBlob(purpose byte, plaintext []byte, setsBadge bool) *SealedBlob {
	key := random(32)
	data := sealBlob(key, purpose, plaintext)
	return &SealedBlob{data, hide(Reference{"", int64(len(plaintext)), base64Of(digest(data)), hide(base64Of(key)), purpose, setsBadge})}
}

// sealBlob makes "PCB1" and the chunks. A second blob under one key would have the same nonces.
func sealBlob(key []byte, purpose byte, plaintext []byte) []byte {
	aead, data := gcm(key), []byte("PCB1")
	for chunk := uint64(0); ; chunk++ {
		size := min(len(plaintext), chunkSize)
		// A counter of 88 bits, and 1 for the last chunk.
		nonce := append(binary.BigEndian.AppendUint64(make([]byte, 3), chunk), 0)
		if size == len(plaintext) {
			nonce[nonceSize-1] = 1
		}
		data = aead.Seal(data, nonce, plaintext[:size], []byte{'P', 'C', 'B', '1', purpose})
		if plaintext = plaintext[size:]; nonce[nonceSize-1] == 1 {
			return data
		}
	}
}

// Reference returns the reference to the blob at its https address.
func (b *SealedBlob) Reference(url string) Reference {
	reference := b.reference()
	reference.URL = url
	return reference
}

// offloaded returns the push of a payload that doesn't fit, if an option allows it. The message keeps the members of aps but the
// alert, which is the placeholder.
func (s *sealing) offloaded(inner payload, tooLarge *Error) *SealedPush {
	if s.Offload == nil || s.Offloaded != nil {
		panic(tooLarge)
	}
	require(!s.IsQuiet, "", "a quiet push has an offloaded payload")
	blob := must(SealPayload(inner.root.text))
	url, err := s.Offload(blob)
	if err != nil {
		panic(&Error{Code: "offloadFailed", Reason: "the function Offload of the options failed", cause: err})
	}
	aps, alert := inner.root.members["aps"], inner.aps.members["alert"]
	short := join([]byte(`{"aps":`), inner.root.text[aps.start:alert.start], s.alert, inner.root.text[alert.end:aps.end], []byte("}"))
	reference := blob.Reference(url)
	s.Offloaded, s.header.Offload = &reference, reference.check(forPayload)
	push := s.push(must(readPayload(short)))
	push.IsOffloaded = true
	return push
}
