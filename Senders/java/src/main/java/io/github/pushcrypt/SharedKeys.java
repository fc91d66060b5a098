package io.github.pushcrypt;

import java.util.Arrays;
import java.util.regex.Pattern;

/** Suite 4: messages to a shared secret, and the keys of devices (PROTOCOL section 3). */
final class SharedKeys {
    static final int SALT_SIZE = 16;
    private static final Pattern DEVICE_ID = Pattern.compile("[A-Za-z0-9_-]{1,64}");
    /** R of section 4: HMAC-SHA256(K as used, "pushcrypt/1 recipient") */
    static byte[] recipient(Key key) { return Bytes.hmac(key.secret(), Bytes.utf8("pushcrypt/1 recipient")); }
    /** salt(16) ‖ ct. With a salt that isn't fresh, two messages would have one key and nonce. */
    static byte[] encrypt(Key key, byte[] info, byte[] salt, byte[] plaintext) {
        byte[] okm = Bytes.expand(Bytes.hmac(salt, key.secret()), info, 44);
        return Bytes.concat(salt, Bytes.encrypt(Arrays.copyOf(okm, 32), Arrays.copyOfRange(okm, 32, 44), Bytes.EMPTY, plaintext));
    }
    static String checkedDevice(String device) {
        if (DEVICE_ID.matcher(device).matches()) return device;
        throw new PushCryptException("invalidDeviceID", "a device id has 1 to 64 characters of A-Z, a-z, 0-9, _ and -");
    }
    /** K_device = HKDF-SHA256(K_master, salt: empty, "pushcrypt/1 device" ‖ 0x00 ‖ lp16(kid) ‖ lp16(device id), 32) */
    static Key deviceKey(Key master, String device) {
        boolean isMaster = master.type() == KeyType.SHARED && master.device() == null;
        if (!isMaster) throw new PushCryptException("wrongKind", "only a shared key that isn't a device's derives keys of devices");
        byte[] info = Bytes.concat(Envelope.label(" device"), Bytes.lp16(master.kid()), Bytes.lp16(checkedDevice(device)));
        byte[] secret = Bytes.expand(Bytes.hmac(Bytes.EMPTY, master.secret()), info, 32);
        return new Key(KeyType.SHARED, master.kid(), master.publicBytes(), secret, null, device, false);
    }
}
