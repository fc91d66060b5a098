import PushCryptFiles

/// The output of a crash, which would show memory that contains keys.
enum CrashOutput {
    /// Turns crash output off. Call it before any secret is read. Failures are ignored.
    ///
    /// The Swift runtime's backtracer prints registers and the memory that they point to. It reads its settings before
    /// `main`, too early for an environment variable that is set here, so its signal handlers are removed. A core file
    /// contains all of the memory.
    static func turnOff() {
        ProcessSignals.removeCrashHandlers()
        ProcessSignals.forbidCoreFiles()
    }
}
