// delivery-process PLACE VARIANT first INDEX     prints the monotonic time at which the handler is called for one push
// delivery-process PLACE VARIANT answer          a line COUNT delivers the next pushes; answers the nanoseconds of each
// delivery-process PLACE VARIANT memory COUNT    prints the growth of the memory by COUNT pushes, see Memory
// delivery-process PLACE VARIANT film PORT       the same for the push whose attachment a server on loopback has
// delivery-process PLACE VARIANT steps COUNT     writes marks between which a tracer counts the system calls of a push

@main
enum Main {
    static func main() throws {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count > 2, let variant = Variant(rawValue: words[1]) else { throw UsageError() }
        let place = Place(folder: words[0])
        switch (words[2], words.count > 3 ? Int(words[3]) : nil) {
        case ("first", let index?): print(try Deliveries(place, variant).deliver(at: index).handled)
        case ("answer", nil): try answer(Deliveries(place, variant))
        case ("memory", let count?): try Memory.printPeak(of: Deliveries(place, variant), count: count)
        case ("film", let port?): try Memory.printPeakOfFilm(in: place, variant, port: UInt16(port))
        case ("steps", let count?): try Steps.write(Deliveries(place, variant), count: count)
        default: throw UsageError()
        }
    }

    private static func answer(_ deliveries: Deliveries) throws {
        var index = 0
        while let line = readLine(), let count = Int(line) {
            let times = try (index..<index + count).map { index in
                let times = try deliveries.deliver(at: index)
                return String(times.handled - times.received)
            }
            index += count
            print(times.joined(separator: " "))
            flushOutput()
        }
    }
}

struct UsageError: Error, CustomStringConvertible {
    var description: String { "usage: delivery-process PLACE VARIANT first|answer|memory|film|steps [NUMBER]" }
}
