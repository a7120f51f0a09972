//! Reads posted messages in any of the accepted forms.
