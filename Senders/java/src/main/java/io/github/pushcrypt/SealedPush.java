package io.github.pushcrypt;

import java.time.Instant;
import java.util.*;

/**
 * A sealed push. {@code json} is the payload as the device receives it; with {@link Carrier#APNS} the body of the request to APNs. {@code id}
 * is for logs and to retract the push. {@code collapseId} may be null. See {@link OversizePlan} for the next two.
 * {@code usesLastResortKey} if the device has day keys and none for this day. Count these pushes: its app hasn't run for long.
 */
public record SealedPush(String json, String id, Instant sealedAt, Instant expiresAt, String topic, Carrier carrier, boolean isQuiet,
        String collapseId, boolean isBodyShortened, boolean isOffloaded, boolean usesLastResortKey) {
    /** The headers of the request to APNs. Add that with your token for APNs. */
    public Map<String, String> headers() {
        Map<String, String> headers = new LinkedHashMap<>(Map.of("apns-push-type", "alert", "apns-topic", topic,
                "apns-expiration", Long.toString(expiresAt.getEpochSecond()), "apns-priority", isQuiet ? "5" : "10"));
        if (collapseId != null) headers.put("apns-collapse-id", collapseId);
        return headers;
    }
    /** The payload as a value, for a client that takes one. It writes the JSON again: seal for {@link Carrier#REBUILT}. */
    @SuppressWarnings("unchecked")
    public Map<String, Object> payload() { return (Map<String, Object>) Carrier.plain(Json.parse(json)); }
    /** The members of the request to the carrier's service; for APNs {@code headers} and {@code payload}. Add address and credentials. */
    public Map<String, Object> request() { return carrier.request(this); }
}
