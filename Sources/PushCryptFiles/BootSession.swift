import PushCryptPrimitives

/// The current boot of the device: its name and its age.
package enum BootSession {
    /// An identifier that changes with every boot; nil if the system has none, or its sandbox doesn't let the process read it.
    package static var name: String? {
        #if canImport(Darwin)
        var size = 0
        guard unsafe sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        guard unsafe sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
        return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        #elseif os(Linux)
        return (try? FileSystem.readFile("/proc/sys/kernel/random/boot_id")).map { String(decoding: $0, as: UTF8.self) }
        #else
        return nil
        #endif
    }

    /// The device's time at the boot. It changes when the clock is set.
    package static var time: Int64 { SystemClock.secondsSince1970 - ageInSeconds }

    /// Seconds since the boot, sleep included. Users can't set this clock.
    package static var ageInSeconds: Int64 {
        var age = timespec()
        #if canImport(Darwin)
        unsafe clock_gettime(CLOCK_MONOTONIC_RAW, &age)
        #else
        unsafe clock_gettime(CLOCK_BOOTTIME, &age)
        #endif
        return Int64(age.tv_sec)
    }
}
