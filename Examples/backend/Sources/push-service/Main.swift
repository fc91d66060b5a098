import ArgumentParser
import PushBackend

@main struct Main {
    static func main() async { await PushService.main(nil) }
}
