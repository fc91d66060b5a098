package io.github.pushcrypt;

import java.time.Duration;
import java.util.*;
import java.util.function.Consumer;

/** Settings of a push. Each method returns changed options, and leaves these as they are. Sealing checks the values. */
public final class SealOptions implements Cloneable {
    static final Duration LONGEST = Duration.ofDays(30);
    /** Padding to a multiple of 128 bytes, the longest lifetime, directly to APNs. */
    public static final SealOptions DEFAULT = new SealOptions();
    /** Values for {@link #padding}. */
    public static final int TO_LIMIT = Sealer.MAX_LIMIT, NO_PADDING = 1;
    int padding = 128, minimumSuite = 1;
    Integer limit, badgeAdd;
    Carrier carrier = Carrier.APNS;
    String collapseId, campaign;
    Duration lifetime;
    List<String> exposed = List.of(), retracted = List.of();
    List<SealedBlob.Attachment> attachments = List.of();
    SealedBlob.Reference offload;
    boolean isQuiet, isSelfTest, isBare, requiresDayKey;
    OversizePlan oversize = OversizePlan.REFUSE;
    private SealOptions() {}
    private SealOptions with(Consumer<SealOptions> change) {
        SealOptions copy = Bytes.crypto(() -> (SealOptions) clone());
        change.accept(copy);
        return copy;
    }
    /** Hides the length: the message is padded to a multiple of this number of bytes, at most to the limit. */
    public SealOptions padding(int multiple) { return with(o -> o.padding = multiple); }
    /** The largest size of the whole push in bytes, at most 4,096. The default leaves free what the carrier adds. */
    public SealOptions limit(int bytes) { return with(o -> o.limit = bytes); }
    /** The way to the device, which the app must name too. */
    public SealOptions carrier(Carrier way) { return with(o -> o.carrier = Objects.requireNonNull(way)); }
    /** {@code apns-collapse-id}, 1 to 64 characters of ASCII, by which a later push replaces this one. APNs can read it. */
    public SealOptions collapseId(String id) { return with(o -> o.collapseId = id); }
    /** The time until the message expires, 1 second to {@link Recipient#longestLifetime}, which is the default. */
    public SealOptions expiresAfter(Duration time) { return with(o -> o.lifetime = time); }
    /** Members of {@code aps} that stay readable on the way, such as {@code badge}. */
    public SealOptions exposing(String... names) { return with(o -> o.exposed = List.of(names)); }
    /** Names this push. Sealed again for the same recipient it has the same id, and is shown once (docs/campaigns.md). */
    public SealOptions campaign(String name) { return with(o -> o.campaign = name); }
    /** Ids of earlier pushes to take back, at most 16. */
    public SealOptions retracting(List<String> ids) { return with(o -> o.retracted = List.copyOf(ids)); }
    /** The app shows nothing, if it may. */
    public SealOptions quiet() { return with(o -> o.isQuiet = true); }
    /** Changes the app's badge by a number of -999 to 999. */
    public SealOptions badgeAdd(int number) { return with(o -> o.badgeAdd = number); }
    /** References to sealed files, at most 8. */
    public SealOptions attaching(SealedBlob.Attachment... files) { return with(o -> o.attachments = List.of(files)); }
    /** The reference to a sealed payload, which is shown instead of the payload of this push. */
    public SealOptions offloading(SealedBlob.Reference payload) { return with(o -> o.offload = payload); }
    /** Asks the extension for a receipt that it works. */
    public SealOptions selfTest() { return with(o -> o.isSelfTest = true); }
    /** Refuses a recipient whose suite ranks below it: 3 demands a key that resists quantum computers. */
    public SealOptions minimumSuite(int suite) { return with(o -> o.minimumSuite = suite); }
    /** Allows a shared key that isn't the key of one device: everyone who has it can open the push. */
    public SealOptions bare() { return with(o -> o.isBare = true); }
    /** Refuses a device with day keys that has none for this day. Otherwise the key of its record is used, which opens for longer. */
    public SealOptions requiringDayKey() { return with(o -> o.requiresDayKey = true); }
    /** What to do with a payload that doesn't fit. */
    public SealOptions oversize(OversizePlan plan) { return with(o -> o.oversize = Objects.requireNonNull(plan)); }
    int byteLimit() { return limit != null ? limit : Sealer.MAX_LIMIT - carrier.reserved; }
    private static void require(boolean isRight, String flaw) { Flaw.unless(isRight, "invalidOption", flaw); }
    /** These with a lifetime that the recipient allows. */
    SealOptions within(Duration longest) {
        if (lifetime == null) return expiresAfter(longest);
        require(lifetime.getSeconds() > 0 && lifetime.compareTo(LONGEST) <= 0, "the lifetime isn't 1 second to 30 days");
        Flaw.unless(lifetime.getSeconds() <= longest.getSeconds(), "expiresTooLate", "the device erases its keys before the push expires");
        return this;
    }
    /** The header of a message with its optional members (sections 5 to 7 and 11), if key and options allow it. */
    Map<String, Object> header(Key key, boolean isSigned, String id, long iat) {
        check(key, isSigned, id);
        require(iat >= 0 && iat <= Json.MAX_INTEGER - lifetime.getSeconds(), "the clock's time can't be represented");
        Map<String, Object> header = Json.map("id", id, "iat", iat, "exp", iat + lifetime.getSeconds());
        Flaw.coded("invalidOption", "the options", () -> {
            retracted.forEach(one -> Bytes.base64(one, Sealer.ID_SIZE, "an id to retract"));
            if (!attachments.isEmpty()) header.put("attachments", attachments.stream().map(SealedBlob.Attachment::members).toList());
            return offload == null ? null : header.put("offload", offload.members(Payload.MAX_SIZE));
        });
        if (isSelfTest) header.put("test", true);
        if (!retracted.isEmpty()) header.put("retract", retracted);
        if (isQuiet) header.put("quiet", true);
        if (badgeAdd != null) header.put("badge", Map.of("add", badgeAdd));
        return header;
    }
    private void check(Key key, boolean isSigned, String id) {
        require(byteLimit() > 0 && byteLimit() <= Sealer.MAX_LIMIT, "limit isn't 1 to 4,096 bytes");
        require(padding > 0 && minimumSuite >= 1 && minimumSuite <= 4, "padding isn't positive, or minimumSuite not 1 to 4");
        require(collapseId == null || collapseId.matches("[ -~]{1,64}"), "the collapse id isn't 1 to 64 printable characters of ASCII");
        require(collapseId == null || carrier != Carrier.EXPO, "Expo has no field for a collapse id");
        require(attachments.size() <= 8, "there are more than 8 attachments");
        require(!isQuiet || attachments.isEmpty() && offload == null, "a quiet push has an attachment or an offloaded payload");
        require(badgeAdd == null || Math.abs((long) badgeAdd) <= 999, "badgeAdd isn't -999 to 999");
        List<String> ids = attachments.stream().map(SealedBlob.Attachment::id).filter(Objects::nonNull).toList();
        require(Set.copyOf(ids).size() == ids.size(), "two attachments have one id");
        long avatars = attachments.stream().filter(SealedBlob.Attachment::isAvatar).count();
        require(avatars < 2, "two attachments are avatars");
        boolean areOthers = retracted.size() <= 16 && Set.copyOf(retracted).size() == retracted.size() && !retracted.contains(id);
        require(areOthers, "there are more than 16 ids to retract, or one twice, or the push's own");
        Flaw.unless(key.type() != KeyType.SHARED || key.device() != null || isBare, "deviceMissing",
                "everyone who has the shared key could open the push: seal to Recipient.forDevice, or give SealOptions.bare");
        boolean isHighEnough = Keyset.rank(key.type().suite) >= Keyset.rank(minimumSuite);
        Flaw.unless(isHighEnough, "suiteTooLow", "key " + key.kid() + " has suite " + key.type().suite + ", which ranks below suite " + minimumSuite);
        boolean instructs = !retracted.isEmpty() || isQuiet || badgeAdd != null || avatars > 0;
        Flaw.unless(!instructs || Envelope.provesSender(key, isSigned), "notAuthenticated",
                "everyone can seal to this key, so its device ignores instructions and avatars: sign the push, or use a record with a psk");
    }
    /** key: K as used in suite 4, else the psk, else empty (section 5). */
    static String campaignId(String campaign, Key key) {
        byte[] name = Flaw.coded("invalidOption", "the campaign", () -> Bytes.lp16(campaign));
        require(name.length >= 3 && name.length <= 257, "the campaign's name isn't 1 to 255 bytes");
        byte[] secret = key.type() == KeyType.SHARED ? key.secret() : key.psk() != null ? key.psk() : Bytes.EMPTY;
        String device = key.device() == null ? "" : key.device();
        byte[] code = Bytes.hmac(secret, Envelope.label(" campaign"), name, Bytes.lp16(key.kid()), Bytes.lp16(device));
        return Bytes.base64(Arrays.copyOf(code, Sealer.ID_SIZE));
    }
}
