use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::{TaskError, User};

/// The most characters of a title.
const LONGEST_TITLE: usize = 200;

/// A task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Task {
    /// Number of the task in the list of its user.
    pub id: u32,
    /// Description of the task.
    pub title: String,
    /// `true` after the task is done.
    pub done: bool,
}

/// The tasks of all users. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Tasks(Arc<Mutex<HashMap<User, Vec<Task>>>>);

impl Tasks {
    /// Creates empty lists.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the tasks of a user, oldest first.
    #[must_use]
    pub fn of(&self, user: &User) -> Vec<Task> {
        self.lock().get(user).cloned().unwrap_or_default()
    }

    /// Adds a task to the list of a user.
    ///
    /// # Errors
    ///
    /// Returns [`TaskError::Title`] if the title is empty or has more than 200 characters.
    pub fn add(&self, user: &User, title: &str) -> Result<Task, TaskError> {
        if title.is_empty() || title.chars().count() > LONGEST_TITLE {
            return Err(TaskError::Title(LONGEST_TITLE));
        }
        let mut all = self.lock();
        let tasks = all.entry(user.clone()).or_default();
        let id = tasks.last().map_or(1, |last| last.id + 1);
        let task = Task { id, title: title.to_owned(), done: false };
        tasks.push(task.clone());
        Ok(task)
    }

    /// Marks a task as done.
    ///
    /// # Errors
    ///
    /// Returns [`TaskError::Unknown`] if the user has no such task.
    pub fn finish(&self, user: &User, id: u32) -> Result<Task, TaskError> {
        let mut all = self.lock();
        let mut tasks = all.get_mut(user).into_iter().flatten();
        let task = tasks.find(|task| task.id == id).ok_or(TaskError::Unknown(id))?;
        task.done = true;
        Ok(task.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<User, Vec<Task>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Users;

    #[test]
    fn each_user_has_a_list() {
        let users = Users::parse("ann=a,bo=b");
        let (ann, bo) =
            (users.signed_in(Some("Bearer a")).unwrap(), users.signed_in(Some("Bearer b")).unwrap());
        let tasks = Tasks::new();
        assert_eq!(tasks.add(&ann, "Call the bank").unwrap().id, 1);
        assert_eq!(tasks.add(&ann, &"ä".repeat(200)).unwrap().id, 2);
        assert_eq!(tasks.add(&ann, &"a".repeat(201)), Err(TaskError::Title(200)));
        assert_eq!(tasks.add(&ann, ""), Err(TaskError::Title(200)));
        assert!(tasks.finish(&ann, 1).unwrap().done);
        assert_eq!(tasks.finish(&bo, 1), Err(TaskError::Unknown(1)));
        assert_eq!((tasks.of(&ann).len(), tasks.of(&bo).len()), (2, 0));
    }
}
