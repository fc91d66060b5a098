// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who uses pushcrypt resolves what measuring it needs.

/// A package by path is known by its folder's name. The targets that measure what a message really goes through reach
/// the library's `package` declarations by being compiled under that name.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last.map { $0.lowercased() } ?? "pushcrypt"
let library = String(folder.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
let insideTheLibrary: SwiftSetting = .unsafeFlags(["-package-name", library])

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "runner", targets: ["Runner"]),
        .executable(name: "swiftcrypto-runner", targets: ["SwiftCryptoRunner"]),
    ],
    dependencies: [
        .package(name: "pushcrypt", path: ".."),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    ],
    targets: [
        .target(name: "RunnerProtocol", path: "RunnerProtocol"),
        .executableTarget(
            name: "Runner",
            dependencies: [
                "RunnerProtocol",
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "PushCryptExtension", package: "pushcrypt"),
                .product(name: "PushCryptCore", package: "pushcrypt"),
            ],
            path: "Runner",
            packageAccess: false,
            swiftSettings: [insideTheLibrary]
        ),
        .executableTarget(
            name: "SwiftCryptoRunner",
            dependencies: ["RunnerProtocol", .product(name: "Crypto", package: "swift-crypto")],
            path: "SwiftCryptoRunner"
        ),
    ],
    swiftLanguageModes: [.v6]
)

for target in package.targets {
    var settings = target.swiftSettings ?? []
    settings += [.enableExperimentalFeature("Lifetimes"), .enableUpcomingFeature("ExistentialAny")]
    target.swiftSettings = settings
}
