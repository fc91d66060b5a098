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

func isAvatar(file Attachment) bool { return file.Use != "" }

// instructs says whether the device demands a proof of the sender (section 11).
func (h *header) instructs() bool {
	return len(h.Retract) > 0 || h.Quiet || h.Badge != nil || slices.ContainsFunc(h.Attachments, isAvatar)
}

func (h *header) check() {
	require(h.Badge == nil || -999 <= h.Badge.Add && h.Badge.Add <= 999, "", "the number for the badge isn't -999 to 999")
	require(len(h.Attachments) <= 8 && len(h.Retract) <= 16, "", "there are more than 8 attachments, or 16 ids to retract")
	for place, file := range h.Attachments {
		file.check()
		isSame := func(other Attachment) bool {
			return file.ID != "" && other.ID == file.ID || isAvatar(file) && isAvatar(other)
		}
		require(!slices.ContainsFunc(h.Attachments[:place], isSame), "", "two attachments have one id, or are avatars")
	}
	if h.Offload != nil {
		h.Offload.check(maxPayload)
	}
	require(!h.Quiet || len(h.Attachments) == 0 && h.Offload == nil, "", "a quiet push has an attachment or an offloaded payload")
	for place, id := range h.Retract {
		unbase64(id, idSize, "an id to retract")
		require(id != h.ID && !slices.Contains(h.Retract[:place], id), "", "an id to retract is there twice, or the push's own")
	}
}

// messageID derives the id of a campaign's push (section 5). The key is K as used in suite 4, else the psk, else empty.
func messageID(campaign string, to *key) string {
	require(1 <= len(campaign) && len(campaign) <= 255, "", "the campaign's name isn't 1 to 255 bytes")
	secret := to.psk
	if to.keyType == shared {
		secret = to.secret
	}
	return base64Of(mac(secret, label(" campaign"), lp16(campaign), lp16(to.kid), lp16(to.device))[:idSize])
}

// MessageID returns the id of a campaign's push to this key, to take it back. Errors: invalidOption.
func (r *Recipient) MessageID(campaign string) (id string, err error) {
	defer catch(&err, "invalidOption", "the campaign")
	return messageID(campaign, r.key()), nil
}
