//! Arguments of a command: names, and numbers behind their options.

/// The arguments of a command.
pub(super) struct Options<'a> {
    pub(super) names: Vec<&'a str>,
    numbers: Vec<(&'a str, usize)>,
}

impl<'a> Options<'a> {
    /// Reads names and `--option N`, of the options that there are.
    pub(super) fn read(arguments: &[&'a str], known: &[&str]) -> Result<Self, String> {
        let (mut names, mut numbers) = (Vec::new(), Vec::new());
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            if !argument.starts_with("--") {
                names.push(*argument);
                continue;
            }
            if !known.contains(argument) {
                return Err(format!("{argument}: there are {known:?}"));
            }
            let number = arguments.next().and_then(|number| number.parse().ok());
            numbers.push((*argument, number.ok_or_else(|| format!("{argument} needs a number"))?));
        }
        Ok(Self { names, numbers })
    }

    /// The number of an option, or what counts without it.
    pub(super) fn number(&self, option: &str, otherwise: usize) -> usize {
        self.numbers.iter().rev().find(|(name, _)| *name == option).map_or(otherwise, |(_, number)| *number)
    }
}
