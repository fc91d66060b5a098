import PushCryptPrimitives

/// The address or thread sanitizer, with which `Tests/deep/run address thread` builds the tests. It needs several times the
/// memory, and parts of it are files.
public enum Sanitizer {
    /// Whether the tests were built without one.
    public static let isAbsent = ["__asan_init", "__tsan_init"].allSatisfy { (name: String) in
        unsafe dlsym(nil, name) == nil
    }
    public static let limitsMemory = "a sanitizer needs more memory than this test allows"
    public static let limitsFiles = "a sanitizer's memory counts against this test's limit of a file's size"
}
