import PushCryptExtension

@main
enum ExtensionProcess {
    static func main() {}
}
