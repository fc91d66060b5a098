package io.github.pushcrypt;

import java.security.GeneralSecurityException;
import java.security.Signature;
import java.util.Arrays;
import javax.crypto.Cipher;

/** The recipient's side of sealing, for tests. */
final class TestOpener {
    private TestOpener() {}

    static byte[] sharedSecret(Key key, byte[] enc) throws GeneralSecurityException {
        byte[] dh = Hpke.dh(key.type(), key.type().privateKey(key.secret()), key.type().publicKey(enc));
        return Hpke.of(key.type()).sharedSecret(dh, enc, key.publicBytes());
    }

    /** The message in {@code sealed}. */
    static byte[] open(Key key, Key sender, String topic, byte[] sealed, boolean isChallenge) throws GeneralSecurityException {
        byte[] info = Envelope.info(key, sender, topic, isChallenge);
        int header = key.type() == KeyType.SHARED ? 16 : key.type().size;
        byte[] enc = Arrays.copyOf(sealed, header), ct = Arrays.copyOfRange(sealed, header, sealed.length), plaintext;
        if (key.type() == KeyType.SHARED) {
            byte[] okm = Bytes.expand(Bytes.hmac(enc, key.secret()), info, 44);
            plaintext = Bytes.aesGcm(Cipher.DECRYPT_MODE, Arrays.copyOf(okm, 32), Arrays.copyOfRange(okm, 32, 44), Bytes.EMPTY, ct);
        } else {
            byte[] psk = key.psk() == null ? Bytes.EMPTY : key.psk(), pskId = key.psk() == null ? Bytes.EMPTY : key.kid().getBytes();
            Hpke.MessageKey message = Hpke.of(key.type()).keySchedule(sharedSecret(key, enc), info, psk, pskId);
            plaintext = Bytes.aesGcm(Cipher.DECRYPT_MODE, message.key(), message.nonce(), Bytes.EMPTY, ct);
        }
        if (sender == null) return plaintext;
        byte[] text = Arrays.copyOfRange(plaintext, 64, plaintext.length);
        Signature signature = Signature.getInstance("Ed25519");
        signature.initVerify(sender.type().publicKey(sender.publicBytes()));
        signature.update(Envelope.signedBytes(key, info, text));
        if (!signature.verify(Arrays.copyOf(plaintext, 64))) throw new GeneralSecurityException("the signature is wrong");
        return text;
    }
}
