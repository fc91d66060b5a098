import PushCryptFiles
import PushCryptPrimitives

/// A place where a test can end the process. Release builds ignore it.
///
/// The environment variable PUSHCRYPT_FAULT_POINT contains the name of the place, which ends the process with SIGKILL, or
/// the name and ` trap`, which fails a precondition there.
package enum FaultPoint {
    #if DEBUG
    /// Called with each place, for a test that copies the files as they are there.
    @TaskLocal package static var observer: (@Sendable (String) -> Void)?
    #endif

    package static func reach(_ name: @autoclosure () -> String) {
        #if DEBUG
        observer?(name())
        guard let variable = ProcessEnvironment.bytes(of: "PUSHCRYPT_FAULT_POINT") else { return }
        let wanted = String(decoding: variable, as: UTF8.self)
        let name = name()
        precondition(wanted != name + " trap")
        guard wanted == name else { return }
        kill(getpid(), SIGKILL)
        while true { pause() }
        #endif
    }
}
