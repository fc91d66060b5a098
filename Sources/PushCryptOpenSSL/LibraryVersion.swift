import CPushCryptOpenSSL

/// The OpenSSL that this process uses.
package enum OpenSSLLibrary {
    /// Its version and date: `3.0.17 1 Jul 2025`. Of the library that was loaded, which can be newer than the headers.
    package static var version: String {
        let text = String(cString: OpenSSL_version(OPENSSL_VERSION))
        return text.hasPrefix("OpenSSL ") ? String(text.dropFirst(8)) : text
    }

    /// Whether it was linked into the program, which then doesn't use the system's.
    package static var isBuiltIn: Bool {
        #if os(Linux)
        pushcrypt_openssl_is_built_in() == 1
        #else
        false
        #endif
    }
}
