package pushcrypt

import "slices"

// header is the member pushcrypt of a message (PROTOCOL sections 5 to 7 and 11).
type header struct {
	ID          string       `json:"id"`
	IssuedAt    int64        `json:"iat"`
	ExpiresAt   int64        `json:"exp"`
	Attachments []Attachment `json:"attachments,omitempty"`
	Offload     *Reference   `json:"offload,omitempty"`
	Test        bool         `json:"test,omitempty"`
	Retract     []string     `json:"retract,omitempty"`
	Quiet       bool         `json:"quiet,omitempty"`
	Badge       *badge       `json:"badge,omitempty"`
}

type badge struct {
	Add int `json:"add"`
}

func (h *header) avatars() (count int) {
	for _, file := range h.Attachments {
		if file.Use != "" {
			count++
		}
	}
	return count
}

// instructs says whether the device demands a proof of the sender (section 11).
func (h *header) instructs() bool {
	return len(h.Retract) > 0 || h.Quiet || h.Badge != nil || h.avatars() > 0
}

func (h *header) check() {
	require(h.Badge == nil || -999 <= h.Badge.Add && h.Badge.Add <= 999, "", "the number for the badge isn't -999 to 999")
	require(len(h.Attachments) <= 8 && h.avatars() <= 1, "", "there are more than 8 attachments, or two avatars")
	for place, file := range h.Attachments {
		file.check()
		isSame := func(other Attachment) bool { return file.ID != "" && other.ID == file.ID }
		require(!slices.ContainsFunc(h.Attachments[:place], isSame), "", "two attachments have one id")
	}
	if h.Offload != nil {
		h.Offload.check(maxPayload)
	}
	require(!h.Quiet || len(h.Attachments) == 0 && h.Offload == nil, "", "a quiet push has an attachment or an offloaded payload")
	require(len(h.Retract) <= 16, "", "there are more than 16 ids to retract")
	for place, id := range h.Retract {
		unbase64(id, idSize, "an id to retract")
		require(id != h.ID && !slices.Contains(h.Retract[:place], id), "", "an id to retract is there twice, or the push's own")
	}
}

// messageID derives the id of a campaign's push (section 5). The key is K as used in suite 4, else the psk, else empty.
func messageID(campaign string, to *key) string {
	require(1 <= len(campaign) && len(campaign) <= 255, "invalidOption", "the campaign's name isn't 1 to 255 bytes")
	secret := to.psk
	if to.keyType == shared {
		secret = to.secret
	}
	return toBase64(mac(secret, label(" campaign"), lp16(campaign), lp16(to.kid), lp16(to.device))[:idSize])
}

// MessageID returns the id of a campaign's push to this key, to take it back. Errors: invalidOption.
func (r *Recipient) MessageID(campaign string) (id string, err error) {
	defer catch(&err, "invalidOption", "the campaign")
	return messageID(campaign, r.key), nil
}
