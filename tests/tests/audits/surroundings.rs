//! What an audit has around it.
