// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that a backend with another HTTP client resolves none of this. Examples/backend tests it.
let package = Package(
    name: "pushcrypt-apns",
    platforms: [.macOS(.v14)],
    products: [.library(name: "PushCryptAPNs", targets: ["PushCryptAPNs"])],
    dependencies: [
        .package(name: "pushcrypt", path: "../.."),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.0.0"..<"5.0.0"),
    ],
    targets: [
        .target(
            name: "PushCryptAPNs",
            dependencies: [
                .product(name: "PushCryptSender", package: "pushcrypt"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
            ]),
    ],
    swiftLanguageModes: [.v6])
