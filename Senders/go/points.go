package pushcrypt

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"math/big"
	"slices"
)

var (
	bigOne = big.NewInt(1)
	// p25519 is 2^255 - 19, and d25519 that of edwards25519: -121665 / 121666 (RFC 8032 section 5.1).
	p25519 = new(big.Int).Sub(new(big.Int).Lsh(bigOne, 255), big.NewInt(19))
	d25519 = new(big.Int).Mul(big.NewInt(-121_665), new(big.Int).ModInverse(big.NewInt(121_666), p25519))
	// order8 is the y coordinate of two points of order 8. That of the other two is its negative.
	order8, _ = new(big.Int).SetString("5fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
)

// prepare makes the objects of the platform, and says whether the keys are valid and a pair (section 3, "An importer").
func (k *key) prepare() bool {
	k.recipient = digest(k.public)
	switch k.keyType {
	case p256:
		return k.prepareDH(ecdh.P256(), k.public, k.secret)
	case x25519:
		return k.prepareDH(ecdh.X25519(), k.public, k.secret)
	case xwing:
		return k.prepareXWing()
	case shared:
		k.recipient = mac(k.secret, []byte("pushcrypt/1 recipient"))
		return true
	}
	if k.secret != nil {
		k.signer = ed25519.NewKeyFromSeed(k.secret)
	}
	return isOnEd25519(k.public) && (k.secret == nil || bytes.Equal(k.signer[32:], k.public))
}

// prepareDH checks a point of P-256, or the coordinate of X25519: it is canonical, and its shared secrets aren't zero.
func (k *key) prepareDH(curve ecdh.Curve, public, secret []byte) bool {
	var err error
	if k.dh, err = curve.NewPublicKey(public); err != nil {
		return false
	}
	if curve == ecdh.X25519() {
		// With a point of small order the shared secret of every private key is zero, which the platform refuses.
		_, err = must(curve.NewPrivateKey(slices.Repeat([]byte{1}, 32))).ECDH(k.dh)
		if err != nil || littleEndian(public).Cmp(p25519) >= 0 {
			return false
		}
	}
	if secret == nil {
		return true
	}
	private, err := curve.NewPrivateKey(secret)
	return err == nil && bytes.Equal(private.PublicKey().Bytes(), public)
}

// isOnEd25519 says whether the coordinate is canonical, and the point is on the curve and not of small order.
func isOnEd25519(point []byte) bool {
	y := littleEndian(point)
	y.SetBit(y, 255, 0)
	isSmall := y.Sign() == 0 || y.Cmp(order8) == 0 || new(big.Int).Add(y, order8).Cmp(p25519) == 0
	// x² = (y² - 1) / (d y² + 1) is a square, and not that of the points (0, 1) and (0, -1), if this product is a square.
	square := new(big.Int).Mul(y, y)
	product := new(big.Int).Mul(d25519, square)
	product.Mul(product.Add(product, bigOne), square.Sub(square, bigOne))
	return y.Cmp(p25519) < 0 && !isSmall && big.Jacobi(product.Mod(product, p25519), p25519) == 1
}

func littleEndian(data []byte) *big.Int {
	reversed := slices.Clone(data)
	slices.Reverse(reversed)
	return new(big.Int).SetBytes(reversed)
}
