// swift-tools-version: 6.2

import PackageDescription

// A separate package, so that packages that use pushcrypt don't resolve the benchmarks' dependencies.

/// The name of a package by path is its folder's name. The targets that measure internal functions need the library's
/// `package` declarations. They are therefore compiled under that name instead of this package's name.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? "pushcrypt"
let library = String(folder.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
let insideTheLibrary: [SwiftSetting] = [.unsafeFlags(["-package-name", library])]
let libraryProducts: [Target.Dependency] = [
    .product(name: "PushCryptCore", package: "pushcrypt"),
    .product(name: "PushCryptSender", package: "pushcrypt"),
    .product(name: "PushCryptExtension", package: "pushcrypt"),
]

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "runner", targets: ["Runner"]),
        .executable(name: "swiftcrypto-runner", targets: ["SwiftCryptoRunner"]),
        .executable(name: "delivery-process", targets: ["DeliveryProcess"]),
        .executable(name: "empty-process", targets: ["EmptyProcess"]),
    ],
    dependencies: [
        .package(name: "pushcrypt", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        // Without its traits: they replace malloc and the runtime's reference counting to count calls.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .target(name: "RunnerProtocol"),
        // Without Foundation, whose loading would be measured.
        .target(name: "MonotonicTime"),
        .target(
            name: "BenchmarkSupport", dependencies: libraryProducts, packageAccess: false,
            swiftSettings: insideTheLibrary),
        .executableTarget(
            name: "Runner", dependencies: ["RunnerProtocol", "BenchmarkSupport"] + libraryProducts,
            packageAccess: false, swiftSettings: insideTheLibrary),
        // An extension in a process of its own. It has nothing of the sender.
        .executableTarget(
            name: "DeliveryProcess",
            dependencies: [
                "MonotonicTime", .product(name: "PushCryptCore", package: "pushcrypt"),
                .product(name: "PushCryptExtension", package: "pushcrypt"),
            ],
            packageAccess: false, swiftSettings: insideTheLibrary),
        .executableTarget(name: "EmptyProcess", dependencies: ["MonotonicTime"]),
        .executableTarget(
            name: "SwiftCryptoRunner",
            dependencies: ["RunnerProtocol", .product(name: "Crypto", package: "swift-crypto")]),
        // The plugin uses the targets whose folders are directly in a folder named Benchmarks.
        .executableTarget(
            name: "Suites",
            dependencies: ["BenchmarkSupport", .product(name: "Benchmark", package: "benchmark")] + libraryProducts,
            path: "Suites", packageAccess: false, swiftSettings: insideTheLibrary,
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .enableExperimentalFeature("Lifetimes"), .enableUpcomingFeature("ExistentialAny"),
        ]
}
