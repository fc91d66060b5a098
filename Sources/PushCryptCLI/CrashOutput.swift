import PushCryptPrimitives

#if !canImport(Darwin)
import CPushCryptProcess
#endif

/// What a crash would show of the process's memory, in which keys are.
enum CrashOutput {
    /// Turns it off; called before any secret is read. A command that the tool starts inherits the limit of 0 bytes for core
    /// files, which it may raise, and nothing else of this.
    ///
    /// The Swift runtime's backtracer prints registers and the memory that they point to. It reads its settings before
    /// `main`, so that the environment comes too late: its signal handlers are taken out. A core file is all of the
    /// memory. That any of this fails is no reason not to work.
    static func turnOff() {
        for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGTRAP] {
            setSignalHandler(number, SIG_DFL)
        }
        var limit = rlimit()
        if unsafe getrlimit(coreSize, &limit) == 0 {
            // The upper limit stays, so that a command that is started may raise its own.
            limit.rlim_cur = 0
            _ = unsafe setrlimit(coreSize, &limit)
        }
        #if os(Linux)
        // A command that is started is dumpable again: the attribute goes with execve(2).
        _ = pushcrypt_process_forbid_dumps()
        #endif
    }

    #if canImport(Glibc)
    private static let coreSize = __rlimit_resource_t(RLIMIT_CORE.rawValue)
    #else
    private static let coreSize = RLIMIT_CORE
    #endif
}

/// Sets what a signal does. One that is ignored, as in the background of a script, stays ignored.
func setSignalHandler(_ number: Int32, _ handler: (@convention(c) (Int32) -> Void)?) {
    let old = signal(number, handler)
    if unsafe unsafeBitCast(old, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) {
        _ = signal(number, SIG_IGN)
    }
}
