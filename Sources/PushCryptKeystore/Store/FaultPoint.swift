#if DEBUG
import PushCryptPrimitives
#endif

/// Where a test can end a process, in debug builds: as by `kill -9` where PUSHCRYPT_FAULT_POINT is the point's name, and
/// as a programming error does where it is the name and ` trap`. Release builds have none.
package enum FaultPoint {
    package static func reach(_ name: @autoclosure () -> String) {
        #if DEBUG
        guard let variable = unsafe getenv("PUSHCRYPT_FAULT_POINT") else { return }
        let (wanted, name) = (unsafe String(cString: variable), name())
        precondition(wanted != name + " trap")
        guard wanted == name else { return }
        kill(getpid(), SIGKILL)
        while true { pause() }
        #endif
    }
}
