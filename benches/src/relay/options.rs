//! The arguments of a command: names, and options with numbers.

/// The arguments of a command.
pub(super) struct Options<'a> {
    pub(super) names: Vec<&'a str>,
    numbers: Vec<(&'a str, usize)>,
}

impl<'a> Options<'a> {
    /// Reads names and options of the form `--option N`.
    ///
    /// # Errors
    ///
    /// Fails if an option is not in `known`, or has no number.
    pub(super) fn read(arguments: &[&'a str], known: &[&str]) -> Result<Self, String> {
        let (mut names, mut numbers) = (Vec::new(), Vec::new());
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                names.push(*argument);
                continue;
            }
            if !known.contains(argument) {
                return Err(format!("unknown option {argument}: the options are {known:?}"));
            }
            let number = arguments.next().and_then(|number| number.parse().ok());
            numbers.push((*argument, number.ok_or_else(|| format!("{argument} needs a number"))?));
        }
        Ok(Self { names, numbers })
    }

    /// Returns the number of an option, or `otherwise` if the option is missing.
    pub(super) fn number(&self, option: &str, otherwise: usize) -> usize {
        self.numbers.iter().rev().find(|(name, _)| *name == option).map_or(otherwise, |(_, number)| *number)
    }
}
