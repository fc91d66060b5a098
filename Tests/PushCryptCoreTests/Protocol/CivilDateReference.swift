/// Days since 1970-01-01 of the proleptic Gregorian calendar, counted year by year and month by month: another way than
/// the library's, for comparison.
func referenceDays(year: Int, month: Int, day: Int) -> Int {
    func daysBefore(_ year: Int) -> Int {
        let past = year - 1
        return year * 365 + past / 4 - past / 100 + past / 400 + (year > 0 ? 1 : 0)
    }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let months = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return daysBefore(year) - daysBefore(1970) + months[..<(month - 1)].reduce(0, +) + day - 1
}
