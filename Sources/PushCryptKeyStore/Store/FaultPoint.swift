#if DEBUG
#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#endif

/// Where a process can be killed by a test, as by `kill -9`: in debug builds, where PUSHCRYPT_FAULT_POINT names the
/// point. Release builds have none.
enum FaultPoint {
    static func reach(_ name: @autoclosure () -> String) {
        #if DEBUG
        guard let wanted = unsafe getenv("PUSHCRYPT_FAULT_POINT"), unsafe String(cString: wanted) == name() else {
            return
        }
        kill(getpid(), SIGKILL)
        while true { pause() }
        #endif
    }
}
